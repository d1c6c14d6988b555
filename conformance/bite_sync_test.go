// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"
	"testing"
	"time"

	"github.com/odp-go/godp/odp"
)

func TestSyncSuitesBite(t *testing.T) {
	needBite(t)
	const all = "(THR|CPU|BARR|LOCK|TIME)-.*"
	runBites(t, []bite{
		{name: "a barrier that does not wait", breaks: func(o *ops) {
			o.Sync.BarrierWait = func(*odp.Barrier, *odp.Worker) error { return nil }
		}, run: all, fails: "BARR-01 BARR-04 BARR-05 BARR-06", races: true},
		{name: "a wait that ends early", breaks: func(o *ops) {
			o.Sync.Wait = func(w *odp.Worker, d time.Duration) error { return odp.Wait(w, d/4) }
		}, run: all, fails: "TIME-22", may: "TIME-01 TIME-12 TIME-13 TIME-14 TIME-15"},
		{name: "a wait until a time that ends early", breaks: func(o *ops) {
			o.Sync.WaitUntil = func(w *odp.Worker, t int64) error { return odp.WaitUntil(w, t-int64(time.Millisecond)) }
		}, run: all, fails: "TIME-20 TIME-21"},
		{name: "a clock that is slow", breaks: func(o *ops) {
			o.Sync.Now = func() int64 { return odp.Now() / 2 }
		}, run: "TIME-(01|05|07|08|2[3-7])", fails: "TIME-07 TIME-23 TIME-24 TIME-25", may: "TIME-01"},
		{name: "a clock that stands", breaks: func(o *ops) {
			o.Sync.Now = func() int64 { return odp.Now() / 1_000_000_000 * 1_000_000_000 }
		}, run: "TIME-(0[5-9]|1[0-9])", fails: "TIME-07", may: "TIME-12 TIME-13 TIME-14 TIME-15 TIME-08 TIME-09 TIME-10 TIME-11"},
		{name: "a mask of workers that is empty", breaks: func(o *ops) {
			o.Sync.Workers = func(*odp.Instance) odp.ThreadMask { return odp.Mask{} }
		}, run: all, fails: "THR-17"},
		{name: "masks without their last id", breaks: func(o *ops) {
			o.Sync.Next = func(m odp.Mask, i int) int {
				if n := m.Next(i); n != m.Last() {
					return n
				}
				return -1
			}
		}, run: all, fails: "CPU-14 THR-16"},
		{name: "masks that are read with their prefix only", breaks: func(o *ops) {
			o.Sync.ParseMask = func(s string) (odp.Mask, error) {
				if !strings.HasPrefix(s, "0x") {
					return odp.Mask{}, odp.ErrMask
				}
				return odp.ParseMask(s)
			}
		}, run: all, fails: "CPU-01 THR-04"},
	})
}
