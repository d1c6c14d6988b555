// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/testkit"
	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/queue"
)

// bite is a broken implementation, and the cases that must notice.
type bite struct {
	name   string
	breaks func(o *ops)
	run    string // the cases that are run: those that must fail, and those that must not
	fails  string // ids, separated by blanks
	may    string // may fail: it depends on how threads meet
	hangs  bool   // takes its time: not for quick runs
	races  bool   // broken so that threads race: not for the race detector
}

// runBites runs the suites on broken implementations: exactly the right cases fail.
func runBites(t *testing.T, list []bite) {
	for _, b := range list {
		t.Run(b.name, func(t *testing.T) {
			if b.races && testkit.Race {
				t.Skip("races by intent")
			}
			if b.hangs && testing.Short() {
				t.Skip("takes its time")
			}
			o := realOps
			b.breaks(&o)
			f := Factory{Name: b.name, ops: &o, patience: time.Second}
			run := b.run
			if b.hangs { // what fails waits; what passes must not
				f.patience = 400 * time.Millisecond
				run = strings.ReplaceAll(b.fails, " ", "|") + "|" + strings.ReplaceAll(ids("01 02 04 07"), " ", "|")
			}
			if testing.Short() {
				run = strings.ReplaceAll(b.fails, " ", "|")
			}
			r := RunAll(t.Context(), f, Options{Run: regexp.MustCompile("^(" + run + ")$"), Short: true, Limit: time.Minute})
			fails, may := strings.Fields(b.fails), strings.Fields(b.may)
			var failed []string
			for _, c := range r.Cases {
				if c.State != Failed {
					continue
				}
				failed = append(failed, c.ID)
				if !slices.Contains(fails, c.ID) && !slices.Contains(may, c.ID) {
					t.Errorf("%s fails, and should not:\n%s", c.ID, strings.Join(c.Log, "\n"))
				}
			}
			for _, id := range fails {
				if !slices.Contains(failed, id) {
					t.Errorf("%s does not notice", id)
				}
			}
			if r.Passed == 0 && !testing.Short() || len(fails) == 0 {
				t.Errorf("%d cases passed, %d should fail: there must be both", r.Passed, len(fails))
			}
		})
	}
}

// newQueue changes the configuration of plain queues.
func newQueue(change func(c *odp.QueueConfig)) func(o *ops) {
	return func(o *ops) {
		o.Queue.New = func(in *odp.Instance, c odp.QueueConfig) (*odp.Queue, error) {
			change(&c)
			return in.NewQueue(c)
		}
	}
}

func TestQueueSuiteBites(t *testing.T) {
	needBite(t)
	const all = "QUEUE-.*"
	const bursts = "QUEUE-06 QUEUE-07 QUEUE-08 QUEUE-09 QUEUE-10 QUEUE-11 QUEUE-12 QUEUE-13 QUEUE-14 QUEUE-15 QUEUE-16 QUEUE-17"
	const pairs = "QUEUE-18 QUEUE-19 QUEUE-20 QUEUE-21 QUEUE-22 QUEUE-23 QUEUE-24 QUEUE-25"
	const lens = "QUEUE-34 QUEUE-35 QUEUE-36"
	runBites(t, []bite{
		{name: "loses every 50th event", hangs: true, breaks: func(o *ops) {
			var count counter
			o.Queue.Dequeue = func(q *odp.Queue, w *odp.Worker, ev []*odp.Event) (int, error) {
				n, err := q.Dequeue(w, ev)
				if n > 0 && count.every(50) {
					n--
					buffer.FreeEvent(w, ev[n])
				}
				return n, err
			}
		}, run: "QUEUE-(0.|1[0-8]|2[6-9]|3.)", fails: bursts + " QUEUE-18 QUEUE-32 QUEUE-33 " + lens, may: "QUEUE-03 QUEUE-05 QUEUE-26"},
		{name: "gives bursts out backwards", breaks: func(o *ops) {
			o.Queue.Dequeue = func(q *odp.Queue, w *odp.Worker, ev []*odp.Event) (int, error) {
				n, err := q.Dequeue(w, ev)
				slices.Reverse(ev[:n])
				return n, err
			}
		}, run: all, fails: bursts + " " + pairs + " QUEUE-26"},
		{name: "takes bursts in backwards", breaks: func(o *ops) {
			o.Queue.Enqueue = func(q *odp.Queue, w *odp.Worker, ev []*odp.Event) (int, error) {
				back := slices.Clone(ev)
				slices.Reverse(back)
				return q.Enqueue(w, back)
			}
		}, run: all, fails: bursts + " " + pairs + " QUEUE-26"},
		{name: "gives one event a second time", hangs: true, breaks: func(o *ops) {
			o.Queue.Dequeue = func(q *odp.Queue, w *odp.Worker, ev []*odp.Event) (int, error) {
				n, err := q.Dequeue(w, ev)
				if n > 1 {
					setNumber(ev[n-1], number(ev[0]))
				}
				return n, err
			}
		}, run: all, fails: bursts + " " + pairs + " QUEUE-32 QUEUE-33"},
		{name: "is always empty by Len", breaks: func(o *ops) {
			o.Queue.Len = func(*odp.Queue) int { return 0 }
		}, run: all, fails: lens},
		{name: "counts one too many by Len", breaks: func(o *ops) {
			o.Queue.Len = func(q *odp.Queue) int { return q.Len() + 1 }
		}, run: all, fails: bursts + " " + lens},
		{name: "holds half of what was asked for", breaks: newQueue(func(c *odp.QueueConfig) { c.Size /= 2; c.Threshold /= 2 }),
			run: all, fails: bursts + " " + lens + " QUEUE-01 QUEUE-31 QUEUE-32 QUEUE-33", may: pairs},
		{name: "says of a full queue that it took all", breaks: func(o *ops) {
			o.Queue.Enqueue = func(q *odp.Queue, w *odp.Worker, ev []*odp.Event) (int, error) {
				n, err := q.Enqueue(w, ev)
				if err == nil {
					buffer.FreeEvents(w, ev[n:])
					n = len(ev)
				}
				return n, err
			}
		}, run: all, fails: bursts},
		{name: "ignores that a direction is disabled", breaks: newQueue(func(c *odp.QueueConfig) {
			if c.EnqMode != c.DeqMode {
				if c.EnqMode == queue.Disabled {
					c.EnqMode = queue.MT
				}
				if c.DeqMode == queue.Disabled {
					c.DeqMode = queue.MT
				}
			}
		}), run: all, fails: "QUEUE-03"},
		{name: "grants a progress that it can't give", breaks: newQueue(func(c *odp.QueueConfig) { c.NonBlocking = queue.Blocking }),
			run: all, fails: "QUEUE-01 QUEUE-31"},
		{name: "cuts names", breaks: newQueue(func(c *odp.QueueConfig) { c.Name = c.Name[:min(31, len(c.Name))] }),
			run: all, fails: "QUEUE-29"},
		{name: "forgets the context", breaks: newQueue(func(c *odp.QueueConfig) { c.Context = nil }),
			run: all, fails: "QUEUE-26 QUEUE-31"},
		{name: "finds closed queues", breaks: func(o *ops) {
			found := map[string]*odp.Queue{}
			o.Queue.Lookup = func(in *odp.Instance, name string) *odp.Queue {
				key := fmt.Sprintf("%p %s", in, name)
				if q := queue.Lookup(in.Set(), name); q != nil {
					found[key] = q
				}
				return found[key]
			}
		}, run: all, fails: "QUEUE-04"},
		{name: "finds the younger of two names", breaks: func(o *ops) {
			made := map[string]*odp.Queue{}
			o.Queue.New = func(in *odp.Instance, c odp.QueueConfig) (*odp.Queue, error) {
				q, err := in.NewQueue(c)
				made[c.Name] = q
				return q, err
			}
			o.Queue.Lookup = func(in *odp.Instance, name string) *odp.Queue {
				if q := queue.Lookup(in.Set(), name); q == nil {
					return nil
				}
				return made[name]
			}
		}, run: all, fails: "QUEUE-27"},
	})
}
