// SPDX-License-Identifier: Apache-2.0

package schedule

import "testing"

func TestQueueIsFoundByName(t *testing.T) {
	r := newRig(t, 1, 4, Config{MaxQueues: 2})
	a := r.queue(QueueConfig{Name: "x"})
	b := r.queue(QueueConfig{Name: "x", Priority: Highest})
	if r.s.Queue("x") != a || r.s.Queue("y") != nil || r.s.Queue("") != nil {
		t.Error("the oldest queue of a name is not found, or one that is not there")
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if r.s.Queue("x") != b {
		t.Error("the second queue of a name is not found when the first is closed")
	}
	c := r.queue(QueueConfig{Name: "x"}) // takes the index of the first, and is younger
	if r.s.Queue("x") != b {
		t.Error("a younger queue is found first")
	}
	for _, q := range []*Queue{b, c} {
		if err := q.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if r.s.Queue("x") != nil {
		t.Error("a closed queue is found")
	}
}

func TestQueueInfoAndContext(t *testing.T) {
	r := newRig(t, 1, 4, Config{})
	q := r.queue(QueueConfig{Name: "x", Sync: Ordered, Locks: 2, Context: 7})
	want := QueueConfig{Name: "x", Sync: Ordered, Locks: 2, Context: 7, Priority: Default, Group: r.s.All(), Size: 4096}
	if got := q.Info(); got != want {
		t.Errorf("Info is %+v, want %+v", got, want)
	}
	q.SetContext("other")
	if q.Context() != "other" || q.Info().Context != "other" {
		t.Errorf("the context is %v after SetContext", q.Context())
	}
	q.SetContext(nil)
	if q.Context() != nil {
		t.Errorf("the context is %v after SetContext(nil)", q.Context())
	}
}
