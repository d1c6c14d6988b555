// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"

	"github.com/odp-go/godp/platform/netmap/abi"
)

// The kernel's answers about interfaces: abi.System. Switch ports and pipes are no
// interfaces of the system.

var _ abi.System = (*kernel)(nil)

func (p *port) state() abi.IfState {
	return abi.IfState{Up: !p.down && !p.gone, Running: p.linkDown.LoadAcq() == 0 && !p.down && !p.gone, Gone: p.gone}
}

// nic finds a NIC port, under World.mu.
func (w *World) nic(name string) (*port, error) {
	if p := w.ports[name]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("nmsim: no interface %q", name)
}

// Interface describes a port.
func (k *kernel) Interface(name string) (i abi.IfInfo, err error) {
	w := k.world()
	w.mu.Lock()
	defer w.mu.Unlock()
	p, err := w.nic(name)
	if err != nil {
		return i, err
	}
	i = abi.IfInfo{IfState: p.state(), Promisc: p.promisc, MTU: p.cfg.MTU, Speed: p.cfg.Speed, Driver: "nmsim", Native: true, MultiSlot: p.cfg.MoreFrag,
		Duplex: 2, Autoneg: 1, PauseRx: 1, PauseTx: 1, Media: "virtual",
		RxSlots: int(slotsOf(p.rx)), TxSlots: int(slotsOf(p.tx))}
	copy(i.MAC[:], p.cfg.MAC)
	if len(p.cfg.Offloads) > 0 {
		i.Offloads = slices.Clone(p.cfg.Offloads)
		i.Cure = "ethtool -K " + name + " " + strings.Join(i.Offloads, " off ") + " off"
		if w.cfg.Personality == FreeBSD {
			i.Cure = "ifconfig " + name + " -" + strings.Join(i.Offloads, " -")
		}
	}
	if p.bridge != nil {
		i.Master = p.bridge.name
	}
	return i, nil
}

// SetMTU changes the MTU. Like the system's, it does not look at buffer sizes.
func (k *kernel) SetMTU(name string, mtu int) error {
	w := k.world()
	w.mu.Lock()
	defer w.mu.Unlock()
	p, err := w.nic(name)
	if err != nil {
		return err
	}
	if mtu < 68 || mtu > 65535 {
		return fmt.Errorf("nmsim: %s: MTU %d: allowed 68 to 65535", name, mtu)
	}
	p.cfg.MTU = mtu
	return nil
}

// SetPromisc records the mode; a port takes every frame in any case.
func (k *kernel) SetPromisc(name string, on bool) error {
	w := k.world()
	w.mu.Lock()
	defer w.mu.Unlock()
	p, err := w.nic(name)
	if err == nil {
		p.promisc = on
	}
	return err
}

// SetMAC changes the address of a port.
func (k *kernel) SetMAC(name string, mac [6]byte) error {
	w := k.world()
	w.mu.Lock()
	defer w.mu.Unlock()
	p, err := w.nic(name)
	if err == nil {
		p.cfg.MAC = net.HardwareAddr(mac[:])
	}
	return err
}

// watcher passes the states of a port on, in order, from one goroutine.
type watcher struct {
	mu    sync.Mutex
	queue []abi.IfState
	kick  chan struct{}
	quit  chan struct{}
	done  chan struct{}
}

// Watch reports the changes of a port; see abi.System. stop must not be called from f.
func (k *kernel) Watch(name string, f func(abi.IfState)) (stop func(), err error) {
	w := k.world()
	w.mu.Lock()
	p, err := w.nic(name)
	if err != nil {
		w.mu.Unlock()
		return nil, err
	}
	x := &watcher{kick: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{})}
	p.watchers = append(p.watchers, x)
	now := p.state()
	w.mu.Unlock()
	f(now)
	go x.run(f)
	var once sync.Once
	return func() {
		once.Do(func() {
			w.mu.Lock()
			if i := slices.Index(p.watchers, x); i >= 0 {
				p.watchers = slices.Delete(p.watchers, i, i+1)
			}
			w.mu.Unlock()
			close(x.quit)
		})
		<-x.done
	}, nil
}

func (x *watcher) run(f func(abi.IfState)) {
	defer close(x.done)
	for {
		select {
		case <-x.quit:
			return
		case <-x.kick:
		}
		for {
			x.mu.Lock()
			if len(x.queue) == 0 {
				x.mu.Unlock()
				break
			}
			s := x.queue[0]
			x.queue = x.queue[1:]
			x.mu.Unlock()
			select {
			case <-x.quit:
				return
			default:
			}
			f(s)
		}
	}
}

// changed tells the watchers of a port, under World.mu.
func (p *port) changed() {
	s := p.state()
	for _, x := range p.watchers {
		x.mu.Lock()
		x.queue = append(x.queue, s)
		x.mu.Unlock()
		select {
		case x.kick <- struct{}{}:
		default:
		}
	}
}
