// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// A source that ended with an error is polled again once it is resumed, also when that
// comes while the poll that fails is under way; without a source nothing happens.
func TestResumeSource(t *testing.T) {
	r := newRig(t, 1, 8, Config{})
	w := r.join()
	q := r.queue(QueueConfig{Sync: Ordered})
	q.ResumeSource()
	in := &input{r: r, err: queue.ErrStopped}
	if err := q.AttachSource(in); err != nil {
		t.Fatal(err)
	}
	if v := r.drain(w); v != nil || q.SourceErr() == nil {
		t.Fatalf("got %v, SourceErr %v", v, q.SourceErr())
	}
	in.err = nil
	in.put(3)
	if v := r.drain(w); v != nil || in.polls.Load() != 1 {
		t.Errorf("before ResumeSource: %v, %d polls", v, in.polls.Load())
	}
	q.ResumeSource()
	if v := r.drain(w); !equal(v, 0, 3) || q.SourceErr() != nil {
		t.Errorf("after ResumeSource: %v, %v", v, q.SourceErr())
	}
	polls := 0
	pl, err := r.s.AddPoller("resumed", nil, Default, pollFunc(func(*worker.Worker) (int, error) {
		if polls++; polls > 2 {
			return 0, nil
		}
		return 0, queue.ErrStopped
	}))
	if err != nil {
		t.Fatal(err)
	}
	r.drain(w)
	if polls != 1 {
		t.Errorf("%d polls before Resume, want 1", polls)
	}
	pl.Resume()
	r.drain(w)
	if polls != 2 {
		t.Errorf("%d polls after Resume, want 2", polls)
	}
	pl.Resume()
	r.drain(w)
	if polls < 3 {
		t.Errorf("%d polls after the second Resume", polls)
	}
	if err := pl.Remove(context.Background(), w); err != nil {
		t.Error(err)
	}

	var once bool
	hit := &input{r: r}
	q2 := r.queue(QueueConfig{})
	if err := q2.AttachSource(sourceFunc(func(w *worker.Worker, ev []*buffer.Event) (int, error) {
		if !once {
			once = true
			q2.ResumeSource() // the error of this very call is older than the resume
			return 0, queue.ErrStopped
		}
		return hit.Dequeue(w, ev)
	})); err != nil {
		t.Fatal(err)
	}
	hit.put(2)
	if v := append(r.drain(w), r.drain(w)...); len(v) != 2 || q2.SourceErr() != nil {
		t.Errorf("resumed during the poll: %v, %v", v, q2.SourceErr())
	}
	detach(t, q, w)
	q.ResumeSource()
	detach(t, q2, w)
	r.leave(w)
}

type (
	pollFunc   func(w *worker.Worker) (int, error)
	sourceFunc func(w *worker.Worker, ev []*buffer.Event) (int, error)
)

func (f pollFunc) Poll(w *worker.Worker) (int, error)                          { return f(w) }
func (f sourceFunc) Dequeue(w *worker.Worker, ev []*buffer.Event) (int, error) { return f(w, ev) }
