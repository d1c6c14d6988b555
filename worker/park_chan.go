// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"runtime"
	"time"
)

// parker is the portable way to sleep: a channel of one token.
type parker struct{ ch chan struct{} }

func (p *parker) open() error { p.ch = make(chan struct{}, 1); return nil }
func (p *parker) close()      {}

func (p *parker) wake() {
	select {
	case p.ch <- struct{}{}:
	default:
	}
}

func (p *parker) park(d time.Duration, fds []int) {
	if d < 0 {
		<-p.ch
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.ch:
	case <-t.C:
	}
}

func yield() { runtime.Gosched() }
