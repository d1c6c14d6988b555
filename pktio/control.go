// SPDX-License-Identifier: Apache-2.0

package pktio

import (
	"bytes"
	"fmt"
	"net"

	"github.com/odp-go/godp/pktio/driver"
)

// MTU returns the largest frame without FCS, in bytes.
func (p *Port) MTU() int { return p.dev.drv.MTU() }

// SetMTU sets the largest frame without FCS, in bytes. The error names the limits.
func (p *Port) SetMTU(frame int) error { return p.setMTU(p.dev.drv, frame) }

func (p *Port) setMTU(dd driver.Device, frame int) error {
	c := dd.Capability()
	if !c.SetMTU {
		return fmt.Errorf("device %q: largest frame %d: this device's is %d and can't be set", p.name, frame, dd.MTU())
	}
	if frame < c.MinMTU || frame > c.MaxMTU {
		return fmt.Errorf("device %q: largest frame %d: allowed are %d to %d bytes (without FCS)", p.name, frame, c.MinMTU, c.MaxMTU)
	}
	if err := dd.SetMTU(frame); err != nil {
		return fmt.Errorf("device %q: largest frame %d: %w", p.name, frame, err)
	}
	return nil
}

// MAC returns the device's own address.
func (p *Port) MAC() net.HardwareAddr { return p.dev.drv.MAC() }

// SetMAC sets the device's own address: six bytes, not a group's, not zero. It lasts
// until the device is closed, or longer. The error says what is allowed.
func (p *Port) SetMAC(a net.HardwareAddr) error {
	s, ok := p.dev.drv.(driver.AddressSetter)
	switch {
	case !ok || !p.Capability().SetMAC:
		return fmt.Errorf("device %q: address %v: this device's is %v and can't be set", p.name, a, p.MAC())
	case len(a) != 6:
		return fmt.Errorf("device %q: address of %d bytes: allowed are 6", p.name, len(a))
	case a[0]&1 != 0 || bytes.Equal(a, make([]byte, 6)):
		return fmt.Errorf("device %q: address %v: allowed are addresses of one station, neither a group's (lowest bit of the first byte) nor zero", p.name, a)
	}
	if err := s.SetMAC(a); err != nil {
		return fmt.Errorf("device %q: address %v: %w", p.name, a, err)
	}
	return nil
}

// Promisc reports whether frames for other addresses are received too.
func (p *Port) Promisc() (bool, error) { return p.dev.drv.Promisc() }

// SetPromisc switches the reception of frames for other addresses.
func (p *Port) SetPromisc(on bool) error {
	if err := p.dev.drv.SetPromisc(on); err != nil {
		return fmt.Errorf("device %q: promiscuous mode: %w", p.name, err)
	}
	return nil
}

// Link returns the state of the link.
func (p *Port) Link() driver.Link {
	l := p.dev.drv.Link()
	if l.Media == "" {
		l.Media = "unknown"
	}
	return l
}

// Capability returns what the device can do.
func (p *Port) Capability() driver.Capability { return p.dev.drv.Capability() }

// Info says what was got.
type Info struct {
	driver.Info
	LockLevel LockLevel
	Shared    bool
	Handles   int  // of this process on the device
	OneLock   bool // receive and send share one lock: the device can't split directions
	Hash      Hash // the flow hash that received packets carry, computed here
	Spread    bool // flows are spread over workers in software
	Started   bool
}

// Info says what was got, and in Notes what was asked for in vain.
func (p *Port) Info() Info {
	d := p.dev
	d.mu.Lock()
	n := len(d.handles)
	d.mu.Unlock()
	i := Info{
		Info: d.drv.Info(), LockLevel: p.level, Shared: d.shared, Handles: n,
		OneLock: !d.info.SplitDir && p.level != LockNone,
		Hash:    p.cfg.Hash, Spread: p.spread, Started: p.state.LoadAcq() == stRunning,
	}
	i.Notes = append(append([]string(nil), i.Notes...), p.notes...)
	if i.OneLock {
		i.Notes = append(i.Notes, "the device can't split receive and send: they share one lock")
	}
	return i
}
