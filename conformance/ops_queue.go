// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/queue"
)

// queueOps are the calls of the QUEUE suite; scheduled queues have theirs in
// schedOps.
type queueOps struct {
	New     func(in *odp.Instance, cfg odp.QueueConfig) (*odp.Queue, error)
	Close   func(q *odp.Queue) error
	Lookup  func(in *odp.Instance, name string) *odp.Queue
	Info    func(q *odp.Queue) odp.QueueConfig
	Context func(q *odp.Queue) any
	Enqueue func(q *odp.Queue, w *odp.Worker, ev []*odp.Event) (int, error)
	Dequeue func(q *odp.Queue, w *odp.Worker, ev []*odp.Event) (int, error)
	Len     func(q *odp.Queue) int
}

var realQueueOps = queueOps{
	New:     (*odp.Instance).NewQueue,
	Close:   (*odp.Queue).Close,
	Lookup:  func(in *odp.Instance, name string) *odp.Queue { return queue.Lookup(in.Set(), name) },
	Info:    (*odp.Queue).Info,
	Context: (*odp.Queue).Context,
	Enqueue: (*odp.Queue).Enqueue,
	Dequeue: (*odp.Queue).Dequeue,
	Len:     (*odp.Queue).Len,
}
