// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"errors"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/worker"
)

// Dest takes events: a plain queue, a scheduled queue, a packet output.
//
// Every burst call follows one rule. n events were accepted, from the front;
// err == nil and n short means full now; err is one of the sentinels and means
// closed, stopped or faulted. What was not accepted stays with the caller. What was
// accepted is visible to the receiver when the call returns. A Dest awaits the
// worker's turn (worker.AwaitTurn) before any lock, unless it ignores order.
type Dest interface {
	Enqueue(w *worker.Worker, ev []*buffer.Event) (n int, err error)
}

// Source gives events: a plain queue, a packet input. n short or 0 means empty
// now. The events are the caller's.
type Source interface {
	Dequeue(w *worker.Worker, ev []*buffer.Event) (n int, err error)
}

// Sentinels of every burst call; details are on the object.
var (
	ErrClosed  = errors.New("closed")
	ErrStopped = errors.New("stopped")
	ErrFaulted = errors.New("faulted")

	// ErrDisabled answers a call in a direction that the configuration disabled.
	ErrDisabled = errors.New("this direction is disabled")
)
