// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"time"

	"github.com/odp-go/godp/odp"
)

// syncOps are the calls of the THR, CPU, BARR and TIME suites that tests break.
type syncOps struct {
	BarrierWait func(b *odp.Barrier, w *odp.Worker) error
	Wait        func(w *odp.Worker, d time.Duration) error
	WaitUntil   func(w *odp.Worker, t int64) error
	Now         func() int64
	Workers     func(in *odp.Instance) odp.ThreadMask
	ParseMask   func(s string) (odp.Mask, error)
	Next        func(m odp.Mask, i int) int
}

var realSyncOps = syncOps{
	BarrierWait: (*odp.Barrier).Wait,
	Wait:        odp.Wait,
	WaitUntil:   odp.WaitUntil,
	Now:         odp.Now,
	Workers:     (*odp.Instance).Workers,
	ParseMask:   odp.ParseMask,
	Next:        odp.Mask.Next,
}
