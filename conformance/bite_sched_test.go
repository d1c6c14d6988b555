// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/odp"
)

// counter tells every nth call.
type counter struct{ n atomic.Int64 }

func (c *counter) every(n int64) bool { return c.n.Add(1)%n == 0 }

// newSched changes the configuration of scheduled queues.
func newSched(change func(c *odp.SchedQueueConfig)) func(o *ops) {
	return func(o *ops) {
		o.Sched.NewQueue = func(in *odp.Instance, c odp.SchedQueueConfig) (*odp.SchedQueue, error) {
			change(&c)
			return in.NewSchedQueue(c)
		}
	}
}

// scheduled changes what Schedule gives.
func scheduled(change func(in *odp.Instance, w *odp.Worker, ev []*odp.Event, q *odp.SchedQueue) (int, *odp.SchedQueue)) func(o *ops) {
	return func(o *ops) {
		o.Sched.Schedule = func(in *odp.Instance, w *odp.Worker, ev []*odp.Event, wait time.Duration) (int, *odp.SchedQueue, error) {
			n, q, err := in.Schedule(w, ev, wait)
			if n > 0 {
				n, q = change(in, w, ev[:n], q)
			}
			return n, q, err
		}
	}
}

// ids writes out SCHED ids: "05 10".
func ids(numbers string) string {
	f := strings.Fields(numbers)
	for i := range f {
		f[i] = "SCHED-" + f[i]
	}
	return strings.Join(f, " ")
}

func TestSchedSuiteBites(t *testing.T) {
	needBite(t)
	const (
		all   = "SCHED-.*"
		basic = "SCHED-(0.|1.|2[0-7]|34|40)" // where threads don't matter
	)
	var broken = errors.New("broken by intent")
	runBites(t, []bite{
		{name: "ends waits early", breaks: func(o *ops) {
			o.Sched.Schedule = func(in *odp.Instance, w *odp.Worker, ev []*odp.Event, wait time.Duration) (int, *odp.SchedQueue, error) {
				return in.Schedule(w, ev, wait/2)
			}
		}, run: basic, fails: ids("03")},
		{name: "gives nothing to a call without wait", hangs: true, breaks: func(o *ops) {
			o.Sched.Schedule = func(in *odp.Instance, w *odp.Worker, ev []*odp.Event, wait time.Duration) (int, *odp.SchedQueue, error) {
				if wait == 0 {
					return 0, nil, nil
				}
				return in.Schedule(w, ev, wait)
			}
		}, run: all, fails: ids("06")},
		{name: "loses every 29th event", hangs: true, breaks: func(o *ops) {
			var count counter
			scheduled(func(in *odp.Instance, w *odp.Worker, ev []*odp.Event, q *odp.SchedQueue) (int, *odp.SchedQueue) {
				n := len(ev)
				if count.every(29) {
					n--
					buffer.FreeEvent(w, ev[n])
				}
				return n, q
			})(o)
		}, run: "SCHED-(01|03|05|21|22|28|34|48|60)", fails: ids("21 22 28 34 48 60")},
		{name: "gives an event twice", breaks: func(o *ops) {
			var count counter
			scheduled(func(in *odp.Instance, w *odp.Worker, ev []*odp.Event, q *odp.SchedQueue) (int, *odp.SchedQueue) {
				if count.every(29) {
					setNumber(ev[0], number(ev[0])-1) // as if the one before had come again
				}
				return len(ev), q
			})(o)
		}, run: "SCHED-(05|09|15|21|28|34|40|48|49|60)", fails: ids("09 21 28 34 40 48 49 60")},
		{name: "names the queue of the call before", breaks: func(o *ops) {
			var mu sync.Mutex
			last := map[*odp.Worker]*odp.SchedQueue{}
			scheduled(func(in *odp.Instance, w *odp.Worker, ev []*odp.Event, q *odp.SchedQueue) (int, *odp.SchedQueue) {
				mu.Lock()
				defer mu.Unlock()
				was := last[w]
				last[w] = q
				if was == nil {
					was = q
				}
				return len(ev), was
			})(o)
		}, run: "SCHED-(03|05|07|10|11|12|20|21|25|51|54|56)", fails: ids("05 10 11 12 20 54 56"), may: ids("51")},
		{name: "turns priorities round", breaks: newSched(func(c *odp.SchedQueueConfig) {
			c.Priority = odp.PriorityLevel(7 - c.Priority.Level())
		}), run: basic, fails: ids("04")},
		{name: "serves without regard to priority", breaks: func(o *ops) {
			newSched(func(c *odp.SchedQueueConfig) { c.Priority = odp.Priority{} })(o)
		}, run: basic, fails: ids("04"), may: ids("08")},
		{name: "gives bursts out backwards", breaks: scheduled(func(in *odp.Instance, w *odp.Worker, ev []*odp.Event, q *odp.SchedQueue) (int, *odp.SchedQueue) {
			slices.Reverse(ev)
			return len(ev), q
		}), run: all, fails: ids("21 35 37 39 41 43 45 62 63 65 66 68 69 71 72 73"), may: ids("05 32 33")},
		{name: "takes bursts in backwards", breaks: func(o *ops) {
			o.Sched.Enqueue = func(q *odp.SchedQueue, w *odp.Worker, ev []*odp.Event) (int, error) {
				back := slices.Clone(ev)
				slices.Reverse(back)
				return q.Enqueue(w, back)
			}
		}, run: all, fails: ids("05 21 24 32 33 35 37 39 41 43 45 60 62 63 65 66 68 69 71 72 73"), may: ids("13 26")},
		{name: "ignores Pause", hangs: true, breaks: func(o *ops) { o.Sched.Pause = func(*odp.Instance, *odp.Worker) {} }, run: basic, fails: ids("08 21 22")},
		{name: "ignores Resume", breaks: func(o *ops) { o.Sched.Resume = func(*odp.Instance, *odp.Worker) {} }, run: basic, fails: ids("08 21 22")},
		{name: "refuses events while paused", breaks: func(o *ops) {
			var paused sync.Map
			o.Sched.Pause = func(in *odp.Instance, w *odp.Worker) { paused.Store(w, true); in.Scheduler().Pause(w) }
			o.Sched.Resume = func(in *odp.Instance, w *odp.Worker) { paused.Delete(w); in.Scheduler().Resume(w) }
			o.Sched.Enqueue = func(q *odp.SchedQueue, w *odp.Worker, ev []*odp.Event) (int, error) {
				if _, ok := paused.Load(w); ok {
					return 0, nil
				}
				return q.Enqueue(w, ev)
			}
		}, run: basic, fails: ids("08 22")},
		{name: "has no groups", hangs: true, breaks: newSched(func(c *odp.SchedQueueConfig) { c.Group = nil }), run: basic, fails: ids("14 15 16 17 20"), may: ids("23")},
		{name: "ignores Join", hangs: true, breaks: func(o *ops) { o.Sched.Join = func(*odp.Group, *odp.Worker) error { return nil } }, run: basic, fails: ids("14 15 17 19 20 23")},
		{name: "ignores Leave", hangs: true, breaks: func(o *ops) { o.Sched.Leave = func(*odp.Group, *odp.Worker) error { return nil } }, run: basic, fails: ids("20")},
		{name: "closes no group", breaks: func(o *ops) { o.Sched.CloseGroup = func(*odp.Group) error { return nil } }, run: basic, fails: ids("14 15 17 18 20")},
		{name: "has a group less than it says", breaks: func(o *ops) {
			made := map[*odp.Instance]int{}
			o.Sched.NewGroup = func(in *odp.Instance, name string) (*odp.Group, error) {
				if made[in]++; made[in] > 60 {
					return nil, broken
				}
				return in.NewGroup(name)
			}
		}, run: basic, fails: ids("19")},
		{name: "cuts the names of groups", breaks: func(o *ops) {
			o.Sched.NewGroup = func(in *odp.Instance, name string) (*odp.Group, error) { return in.NewGroup(name[:min(31, len(name))]) }
		}, run: basic, fails: ids("18")},
		{name: "ends contexts at once", breaks: scheduled(func(in *odp.Instance, w *odp.Worker, ev []*odp.Event, q *odp.SchedQueue) (int, *odp.SchedQueue) {
			in.Scheduler().Release(w)
			return len(ev), q
		}), run: all, fails: ids("05 24 26 33 46 50 53 56 59 60 63 66 69 72 73"), may: ids("32 40 41 42 43 44 45 58 71 74"), races: true},
		{name: "has parallel queues for atomic ones", breaks: newSched(func(c *odp.SchedQueueConfig) {
			if c.Sync == odp.Atomic {
				c.Sync = odp.Parallel
			}
		}), run: all, fails: ids("05 46 60 73"), may: ids("32 58 71 74"), races: true},
		{name: "has parallel queues for ordered ones", hangs: true, breaks: newSched(func(c *odp.SchedQueueConfig) {
			if c.Sync == odp.Ordered {
				c.Sync, c.Locks = odp.Parallel, 0
			}
		}), run: all, fails: ids("13 24 26 33 50 53 56 59 63 66 69 72")},
		{name: "has ordered locks that lock nothing", breaks: func(o *ops) {
			o.Sched.OrderLock = func(*odp.Instance, *odp.Worker, int) {}
			o.Sched.OrderUnlock = func(*odp.Instance, *odp.Worker, int) {}
		}, run: all, fails: ids("24 59 72"), may: ids("33"), races: true},
		{name: "does not wait in OrderWait", breaks: func(o *ops) { o.Sched.OrderWait = func(*odp.Instance, *odp.Worker) {} }, run: basic, fails: ids("26")},
		{name: "ignores Release", breaks: func(o *ops) { o.Sched.Release = func(*odp.Instance, *odp.Worker) {} }, run: basic, fails: ids("05 24"), may: ids("26")},
		{name: "has queues of half the size", breaks: newSched(func(c *odp.SchedQueueConfig) { c.Size = (c.Size + 1) / 2 }), run: "SCHED-(0.|1.|2[2-7]|34)", fails: ids("07 09")},
		{name: "closes queues that still take events", breaks: func(o *ops) { o.Sched.CloseQueue = func(*odp.SchedQueue) error { return nil } }, run: "SCHED-(0.|1.|2.)", fails: ids("05 15 17 20")},
		{name: "has fewer queues than it says", breaks: func(o *ops) {
			made := map[*odp.Instance]int{}
			o.Sched.NewQueue = func(in *odp.Instance, c odp.SchedQueueConfig) (*odp.SchedQueue, error) {
				if made[in]++; made[in] > 150 {
					return nil, broken
				}
				return in.NewSchedQueue(c)
			}
		}, run: basic, fails: ids("10 11 12")},
		{name: "forgets flow ids", breaks: scheduled(func(in *odp.Instance, w *odp.Worker, ev []*odp.Event, q *odp.SchedQueue) (int, *odp.SchedQueue) {
			for _, x := range ev {
				x.SetFlow(0)
			}
			return len(ev), q
		}), run: basic, fails: ids("27")},
		{name: "says that everybody is a member", breaks: func(o *ops) { o.Sched.Has = func(*odp.Group, *odp.Worker) bool { return true } }, run: basic, fails: ids("14 16 20")},
	})
}
