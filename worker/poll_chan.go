// SPDX-License-Identifier: Apache-2.0

//go:build portable || !(linux || freebsd || darwin)

package worker

import (
	"errors"
	"time"
)

// poller is the portable way to sleep: a channel of one token and a timer. It can't
// watch descriptors.
type poller struct {
	ch    chan struct{}
	timer *time.Timer
}

func (p *poller) open() error {
	p.ch = make(chan struct{}, 1)
	p.timer = time.NewTimer(time.Hour)
	p.timer.Stop()
	return nil
}

func (p *poller) close()          { p.timer.Stop() }
func (p *poller) generation()     {}
func (p *poller) unwatch(fd int)  {}
func (p *poller) watch(int) error { return errNoWatch }

var errNoWatch = errors.New("worker: this build can't sleep on descriptors; they are looked at once a millisecond")

func (p *poller) trigger() {
	select {
	case p.ch <- struct{}{}:
	default:
	}
}

// sleep waits for the trigger, at most d (d < 0: no limit, 0: only looks).
func (p *poller) sleep(d time.Duration) (ready bool, err error) {
	switch {
	case d < 0:
		<-p.ch
	case d == 0:
		select {
		case <-p.ch:
		default:
		}
	default:
		p.timer.Reset(d)
		select {
		case <-p.ch:
			p.timer.Stop()
		case <-p.timer.C:
		}
	}
	return false, nil
}
