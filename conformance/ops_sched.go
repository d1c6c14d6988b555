// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"time"

	"github.com/odp-go/godp/odp"
)

// schedOps are the calls of the SCHED suite.
type schedOps struct {
	NewQueue    func(in *odp.Instance, cfg odp.SchedQueueConfig) (*odp.SchedQueue, error)
	CloseQueue  func(q *odp.SchedQueue) error
	Queue       func(in *odp.Instance, name string) *odp.SchedQueue
	Info        func(q *odp.SchedQueue) odp.SchedQueueConfig
	Enqueue     func(q *odp.SchedQueue, w *odp.Worker, ev []*odp.Event) (int, error)
	Schedule    func(in *odp.Instance, w *odp.Worker, ev []*odp.Event, wait time.Duration) (int, *odp.SchedQueue, error)
	Release     func(in *odp.Instance, w *odp.Worker)
	Pause       func(in *odp.Instance, w *odp.Worker)
	Resume      func(in *odp.Instance, w *odp.Worker)
	OrderLock   func(in *odp.Instance, w *odp.Worker, i int)
	OrderUnlock func(in *odp.Instance, w *odp.Worker, i int)
	OrderWait   func(in *odp.Instance, w *odp.Worker)
	NewGroup    func(in *odp.Instance, name string) (*odp.Group, error)
	CloseGroup  func(g *odp.Group) error
	Group       func(in *odp.Instance, name string) *odp.Group
	Join        func(g *odp.Group, w *odp.Worker) error
	Leave       func(g *odp.Group, w *odp.Worker) error
	Has         func(g *odp.Group, w *odp.Worker) bool
}

var realSchedOps = schedOps{
	NewQueue:    (*odp.Instance).NewSchedQueue,
	CloseQueue:  (*odp.SchedQueue).Close,
	Queue:       func(in *odp.Instance, name string) *odp.SchedQueue { return in.Scheduler().Queue(name) },
	Info:        (*odp.SchedQueue).Info,
	Enqueue:     (*odp.SchedQueue).Enqueue,
	Schedule:    (*odp.Instance).Schedule,
	Release:     func(in *odp.Instance, w *odp.Worker) { in.Scheduler().Release(w) },
	Pause:       func(in *odp.Instance, w *odp.Worker) { in.Scheduler().Pause(w) },
	Resume:      func(in *odp.Instance, w *odp.Worker) { in.Scheduler().Resume(w) },
	OrderLock:   func(in *odp.Instance, w *odp.Worker, i int) { in.Scheduler().OrderLock(w, i) },
	OrderUnlock: func(in *odp.Instance, w *odp.Worker, i int) { in.Scheduler().OrderUnlock(w, i) },
	OrderWait:   func(in *odp.Instance, w *odp.Worker) { in.Scheduler().OrderWait(w) },
	NewGroup:    (*odp.Instance).NewGroup,
	CloseGroup:  (*odp.Group).Close,
	Group:       func(in *odp.Instance, name string) *odp.Group { return in.Scheduler().Group(name) },
	Join:        (*odp.Group).Join,
	Leave:       (*odp.Group).Leave,
	Has:         (*odp.Group).Has,
}
