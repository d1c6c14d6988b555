// SPDX-License-Identifier: Apache-2.0

package odptest

import (
	"bytes"
	"math/rand/v2"
)

// Faults are what a device does wrong. Chances are per frame, 0 to 1, and decided
// by Seed, so that a failing test can be repeated; calls are counted from 1 on.
type Faults struct {
	Seed    uint64
	Drop    float64 // chance that an injected frame is lost
	Dup     float64 // chance that it comes twice
	Reorder float64 // chance that it changes places with the one before it
	Damage  float64 // chance that one of its bits is flipped

	FailRecv, FailSend   int // this call answers ErrFaulted; 0 = none
	PanicRecv, PanicSend int // this call panics, with the queue's lock held; 0 = none
}

type faults struct {
	cfg   Faults
	rnd   *rand.Rand
	calls map[string]int
}

// SetFaults makes the device do wrong from now on; counts of calls start again.
func (d *Device) SetFaults(f Faults) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = &faults{cfg: f, rnd: rand.New(rand.NewPCG(f.Seed, 1)), calls: map[string]int{}}
}

// apply returns the frames as they arrive. The result shares them where it can.
func (f *faults) apply(frames [][]byte) [][]byte {
	if f == nil {
		return frames
	}
	var out [][]byte
	for _, b := range frames {
		if f.hit(f.cfg.Drop) {
			continue
		}
		if f.hit(f.cfg.Damage) && len(b) > 0 {
			b = bytes.Clone(b)
			bit := f.rnd.IntN(len(b) * 8)
			b[bit/8] ^= 1 << (bit % 8)
		}
		out = append(out, b)
		if f.hit(f.cfg.Dup) {
			out = append(out, b)
		}
		if n := len(out); n > 1 && f.hit(f.cfg.Reorder) {
			out[n-1], out[n-2] = out[n-2], out[n-1]
		}
	}
	return out
}

// hit draws with a chance; nothing is drawn for 0, so that one fault's draws do
// not depend on another's being configured at 0.
func (f *faults) hit(chance float64) bool { return chance > 0 && f.rnd.Float64() < chance }
