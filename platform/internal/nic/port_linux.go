// SPDX-License-Identifier: Apache-2.0

package nic

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/pktio/driver"
)

// States of a port, written by control operations, read by bursts.
const (
	StateNew uint32 = iota
	StateRunning
	StateStopped
	StateClosed
)

// Values of Port.Blocked, written by the watcher, read by bursts.
const (
	BlockedDown uint32 = 1 // nothing can be sent; frames that came before can still be received
	BlockedGone uint32 = 2 // the interface was removed
)

// EthHeader is the length of an Ethernet header: the kernel's MTU is without, a driver's with.
const EthHeader = 14

// MinFrame is the smallest MTU that an interface may be given, with the header.
const MinFrame = 68 + EthHeader

// Port is what the devices for interfaces of the kernel have in common: state, link, MTU,
// notes and errors. A device embeds it, and Start, Stop and Close stay its own.
type Port struct {
	Name    string // with the prefix
	Cfg     driver.Config
	Gate    Gate
	Handle  *Handle      // of the interface; nil until Attach
	Own     *buffer.Pool // the device's own pool; nil: it receives into another
	Rights  string       // the cure when the system refuses for want of rights; "" = each error has its own
	State   relax.Uint32 // State…
	Blocked relax.Uint32 // Blocked…

	mtu   relax.Uint32 // as last heard, without the header
	downs relax.Uint32 // how often the link went down; the watcher's
	mu    sync.Mutex   // guards notes
	notes []string
	stop  func() // the watcher
}

// Queues says how many receive and send queues are asked for.
func (p *Port) Queues(most int) (rx, tx int, err error) {
	rx, tx = max(p.Cfg.RxQueues, 1), max(p.Cfg.TxQueues, 1)
	if rx > most || tx > most {
		err = &Error{Op: "open", Device: p.Name, Why: fmt.Sprintf("%d receive and %d send queues", rx, tx), Cure: fmt.Sprintf("allowed are 1 to %d", most)}
	}
	return rx, tx, err
}

// Attach finds the interface.
func (p *Port) Attach(ifname string) (l Link, err error) {
	if p.Handle, err = Open(p.Gate, ifname); err != nil {
		return l, p.Fail("open", err, "")
	}
	if l, err = p.Handle.Link(); err != nil {
		return l, p.Fail("ask for the link", err, "")
	}
	p.mtu.StoreRel(uint32(l.MTU))
	return l, nil
}

// Take refuses an interface that is down, or that others need.
func (p *Port) Take(l Link) error {
	if !l.Up {
		return &Error{Op: "open", Device: p.Name, Why: l.Name + " is down", Cure: "ip link set dev " + l.Name + " up"}
	}
	return p.Handle.Guard(p.Name, l.Name, p.Cfg.TakeOver, p.Cfg.Log)
}

// Watch follows the state of the interface until Detach.
func (p *Port) Watch() (err error) {
	if p.stop, err = p.Handle.Watch(p.changed); err != nil {
		return p.Fail("watch the link", err, "")
	}
	return nil
}

// Unwatch ends Watch: once it has returned, Blocked does not change any more.
func (p *Port) Unwatch() {
	if p.stop != nil {
		p.stop()
		p.stop = nil
	}
}

// Detach gives the handle back.
func (p *Port) Detach() {
	if p.Handle != nil {
		p.Handle.Close()
	}
}

// changed hears of the state of the interface.
func (p *Port) changed(s State) {
	if s.MTU > 0 {
		p.mtu.StoreRel(uint32(s.MTU))
	}
	switch was := p.Blocked.LoadAcq(); {
	case was == BlockedGone:
	case s.Gone:
		p.Blocked.StoreSeq(BlockedGone)
	case !s.Up:
		p.Blocked.StoreSeq(BlockedDown)
		if was == 0 {
			p.downs.Add(1)
		}
	default:
		p.Blocked.StoreSeq(0)
	}
}

// Downs is how often the link went down.
func (p *Port) Downs() uint64 { return uint64(p.downs.LoadAcq()) }

// Note keeps what the user should know, and logs it.
func (p *Port) Note(msg string) {
	p.mu.Lock()
	p.notes = append(p.notes, msg)
	p.mu.Unlock()
	if p.Cfg.Log != nil {
		p.Cfg.Log.Warn(msg, "device", p.Name)
	}
}

// Notes returns what was noted.
func (p *Port) Notes() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.notes)
}

// Fail makes the error of a control operation.
func (p *Port) Fail(op string, err error, cure string) error {
	if p.Rights != "" && Denied(err) {
		cure = p.Rights
	}
	return &Error{Op: op, Device: p.Name, Err: err, Cure: cure}
}

// Refuse is an error under Strict, else a note.
func (p *Port) Refuse(what, why string) error {
	if p.Cfg.Strict {
		return &Error{Op: what, Device: p.Name, Why: why, Cure: "or open it without Strict"}
	}
	p.Note(what + ": " + why)
	return nil
}

// Fault is the error that a queue answers from now on; it is logged.
func (p *Port) Fault(why string, err error) error {
	f := &Fault{Device: p.Name, Why: why, Err: err}
	if p.Cfg.Log != nil {
		p.Cfg.Log.Warn(f.Error(), "device", p.Name)
	}
	return f
}

// Removed is the fault of a queue whose interface is gone.
func (p *Port) Removed() error { return p.Fault("the interface was removed", nil) }

// LastMTU is the interface's MTU as last heard, without the header. Bursts may ask.
func (p *Port) LastMTU() int { return int(p.mtu.LoadAcq()) }

// MTU implements driver.Device.
func (p *Port) MTU() int {
	if l, err := p.Handle.Link(); err == nil {
		return l.MTU + EthHeader
	}
	return p.LastMTU() + EthHeader
}

// ChangeMTU changes the interface's; frame is with the header, most what the device carries.
func (p *Port) ChangeMTU(frame, most int) error {
	if frame < MinFrame || frame > most {
		return &Error{Op: "set the MTU", Device: p.Name, Why: fmt.Sprintf("a frame of %d bytes", frame), Cure: fmt.Sprintf("allowed are %d to %d", MinFrame, most)}
	}
	if err := p.Handle.SetMTU(frame - EthHeader); err != nil {
		return p.Fail("set the MTU", err, "the interface's driver has limits: ip -d link show")
	}
	p.mtu.StoreRel(uint32(frame - EthHeader))
	return nil
}

// Promisc implements driver.Device.
func (p *Port) Promisc() (bool, error) {
	l, err := p.Handle.Link()
	return l.Promisc > 0, err
}

// Link implements driver.Device.
func (p *Port) Link() driver.Link {
	l, err := p.Handle.Link()
	return driver.Link{Known: true, Up: err == nil && l.Up && l.Running}
}

// AwaitLink waits for the link, since frames sent before vanish, as long as the configuration
// says or usual; a link that stays down is an error under Strict, else a note.
func (p *Port) AwaitLink(usual time.Duration) error {
	wait := p.Cfg.LinkWait
	if wait == 0 {
		wait = usual
	}
	for end := time.Now().Add(wait); wait > 0 && !p.Link().Up && p.Blocked.LoadAcq() != BlockedGone; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			return p.Refuse("start", fmt.Sprintf("no link after %v: check the cable and the other side, or give it more time (linkwait=)", wait))
		}
	}
	return nil
}

// ClosePool closes the device's own pool, if it has one. While packets are out the error
// wraps driver.ErrPacketsOut, and the call can be repeated.
func (p *Port) ClosePool() error {
	if p.Own == nil {
		return nil
	}
	if err := p.Own.Close(); err != nil {
		return fmt.Errorf("device %q: %w: %w", p.Name, driver.ErrPacketsOut, err)
	}
	p.Own = nil
	return nil
}
