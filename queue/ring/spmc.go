// SPDX-License-Identifier: Apache-2.0

package ring

import "github.com/odp-go/godp/buffer"

// SPMC is a ring for one producer at a time and any number of consumers: the
// producer uses no read-modify-write. Layout as MPMC.
type SPMC struct{ r MPMC }

// NewSPMC makes a ring that holds at least n ids (Size says how many). It panics
// when Size refuses n.
func NewSPMC(n int) *SPMC { return newSPMCAt(n, 0) }

func newSPMCAt(n int, pos uint64) *SPMC { return &SPMC{*newMPMCAt(n, pos)} }

// Cap returns how many ids the ring holds.
func (s *SPMC) Cap() int { return s.r.Cap() }

// Len returns how many ids are in the ring. The answer is of the past.
func (s *SPMC) Len() int { return s.r.Len() }

// Total returns how many ids were ever enqueued and dequeued. Any goroutine may call it.
func (s *SPMC) Total() (in, out uint64) { return s.r.Total() }

// Enqueue appends ids from the front and returns how many fitted. The producer calls it.
func (s *SPMC) Enqueue(ids []uint32) int {
	r := &s.r
	pos, n := r.prod.reserveSingle(&r.slots, &r.r, len(ids), false)
	r.write(pos, ids[:n])
	return n
}

// EnqueueAll appends all ids, or none and returns false. The producer calls it.
func (s *SPMC) EnqueueAll(ids []uint32) bool {
	r := &s.r
	pos, n := r.prod.reserveSingle(&r.slots, &r.r, len(ids), true)
	r.write(pos, ids[:n])
	return n == len(ids)
}

// Dequeue fills ids from the front and returns how many were there. Any goroutine.
func (s *SPMC) Dequeue(ids []uint32) int { return s.r.Dequeue(ids) }

// DequeueAll fills all of ids, or consumes none and returns false. Any goroutine.
func (s *SPMC) DequeueAll(ids []uint32) bool { return s.r.DequeueAll(ids) }

// EnqueueEvents is Enqueue of the events' ids.
func (s *SPMC) EnqueueEvents(ev []*buffer.Event) int {
	r := &s.r
	pos, n := r.prod.reserveSingle(&r.slots, &r.r, len(ev), false)
	r.writeEvents(pos, ev[:n])
	return n
}

// DequeueEvents is Dequeue into events.
func (s *SPMC) DequeueEvents(ev []*buffer.Event) int { return s.r.DequeueEvents(ev) }
