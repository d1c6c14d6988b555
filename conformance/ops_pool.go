// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/odp"
)

// poolOps are the calls of the POOL, BUF and EV suites.
type poolOps struct {
	NewPool       func(in *odp.Instance, cfg odp.PoolConfig) (*odp.Pool, error)
	Close         func(p *odp.Pool) error
	Lookup        func(name string) *odp.Pool
	Info          func(p *odp.Pool) buffer.PoolInfo
	Stats         func(p *odp.Pool) buffer.PoolStats
	AllocBuffers  func(p *odp.Pool, w *odp.Worker, bufs []*odp.Buffer) int
	AllocPackets  func(p *odp.Pool, w *odp.Worker, pkts []*odp.Packet, length int) int
	AllocVector   func(p *odp.Pool, w *odp.Worker) *buffer.Vector
	AllocTimeouts func(p *odp.Pool, w *odp.Worker, tmo []*buffer.Timeout) int
	FreeEvents    func(w *odp.Worker, ev []*odp.Event)
	UserArea      func(e *odp.Event) []byte
	PoolOf        func(e *odp.Event) *odp.Pool
}

var realPoolOps = poolOps{
	NewPool:       (*odp.Instance).NewPool,
	Close:         (*odp.Pool).Close,
	Lookup:        buffer.Lookup,
	Info:          (*odp.Pool).Info,
	Stats:         (*odp.Pool).Stats,
	AllocBuffers:  (*odp.Pool).AllocBuffers,
	AllocPackets:  (*odp.Pool).AllocPackets,
	AllocVector:   (*odp.Pool).AllocVector,
	AllocTimeouts: (*odp.Pool).AllocTimeouts,
	FreeEvents:    buffer.FreeEvents,
	UserArea:      (*odp.Event).UserArea,
	PoolOf:        (*odp.Event).PoolOf,
}
