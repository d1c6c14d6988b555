// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"

	"github.com/odp-go/godp/platform/netmap/abi"
)

// Call is a kind of system call that a fault can hit.
type Call uint8

// The kinds of call.
const (
	CallOpen Call = iota
	CallCtrl
	CallMap
	CallTxSync
	CallRxSync
	CallPoll
)

// callFaults are under World.mu.
type callFaults struct {
	calls  uint64
	failAt uint64 // the call with this number fails, 0 = none
	errno  syscall.Errno
	enomem int // so many registrations find no memory
}

// FailCall makes the k-th system call from now (1 = the next) fail with e, once. Opens,
// controls, mappings, syncs and polls count, closes do not. k = 0 takes it back.
func (w *World) FailCall(k uint64, e syscall.Errno) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults.failAt, w.faults.errno, w.faults.calls = k, e, 0
	w.faulty.StoreSeq(0)
	if k > 0 {
		w.faulty.StoreSeq(1)
	}
}

// FailMemory makes the next n registrations fail with ENOMEM.
func (w *World) FailMemory(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults.enomem = n
}

// callFault counts a call while faults are armed, and says how it fails.
func (w *World) callFault(c Call) syscall.Errno {
	if w.faulty.LoadAcq() == 0 {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.faults.calls++; w.faults.failAt != 0 && w.faults.calls == w.faults.failAt {
		w.faults.failAt = 0
		return w.faults.errno
	}
	return 0
}

// FailPending reports whether the call of FailCall did not come yet.
func (w *World) FailPending() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.faults.failAt != 0
}

// memFault is under World.mu.
func (w *World) memFault() syscall.Errno {
	if w.faults.enomem > 0 {
		w.faults.enomem--
		return syscall.ENOMEM
	}
	return 0
}

// with calls f for a port, under World.mu.
func (w *World) with(name string, f func(p *port) error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.ports[name]
	if p == nil {
		if p = w.pipes[name]; p == nil {
			if b, i := w.findVale(name); b != nil {
				p = b.ports[i]
			}
		}
	}
	if p == nil {
		return fmt.Errorf("nmsim: no port %q", name)
	}
	return f(p)
}

// SetLink sets the carrier of a port: without it no frame moves and TX tail stays.
func (w *World) SetLink(name string, up bool) error {
	return w.with(name, func(p *port) error {
		v := uint32(1)
		if up {
			v = 0
		}
		p.linkDown.StoreSeq(v)
		p.notifyAll()
		p.changed()
		return nil
	})
}

// SetUp sets the interface up or down (administratively): while it is down, syncs and
// polls answer EIO and POLLERR, or sleep (Config.BlockWhenDown).
func (w *World) SetUp(name string, up bool) error {
	return w.with(name, func(p *port) error {
		p.down = !up
		from, to := ringOn, ringLocked
		if up {
			from, to = ringLocked, ringOn
		}
		p.setState(from, to)
		p.changed()
		w.wake.Broadcast()
		return nil
	})
}

// Remove takes a port away, as when a card is pulled: registered descriptors get EIO and
// POLLERR for ever, the name is free again.
func (w *World) Remove(name string) error {
	return w.with(name, func(p *port) error {
		if p.kind != kindNIC {
			return fmt.Errorf("nmsim: remove %q: only NIC ports can be removed", name)
		}
		p.gone = true
		p.setState(ringOn, ringStopped)
		p.setState(ringLocked, ringStopped)
		w.dropNIC(p)
		if p.peer != nil {
			p.unplug()
		}
		p.changed()
		w.wake.Broadcast()
		return nil
	})
}

// unplug takes the cable out; rings that send over it are locked meanwhile.
func (p *port) unplug() {
	q := p.peer
	for _, x := range []*port{p, q} {
		for _, k := range x.tx {
			k.lock()
		}
	}
	p.peer, q.peer = nil, nil
	for _, x := range []*port{p, q} {
		for _, k := range x.tx {
			k.unlock()
		}
	}
}

func (p *port) setState(from, to uint32) {
	p.allRings(func(k *kring) bool {
		k.lock()
		if k.state.LoadAcq() == from {
			k.state.StoreSeq(to)
		}
		k.unlock()
		k.notify()
		return true
	})
}

func (p *port) notifyAll() {
	p.allRings(func(k *kring) bool { k.notify(); return true })
}

// sleepDown waits until the interface of a locked ring is up; false: it is not waited
// for, or it was removed or closed.
func (w *World) sleepDown(k *kring) bool {
	if !w.cfg.BlockWhenDown {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for k.state.LoadAcq() == ringLocked && !w.closed {
		w.wake.Wait()
	}
	return k.state.LoadAcq() == ringOn
}

// SetOffloads makes these the offloads that a client is told are on.
func (w *World) SetOffloads(name string, on ...string) error {
	return w.with(name, func(p *port) error { p.cfg.Offloads = slices.Clone(on); return nil })
}

// SetStuck stops all transmission of a port: frames are taken and never complete.
func (w *World) SetStuck(name string, on bool) error {
	return w.with(name, func(p *port) error {
		v := uint32(0)
		if on {
			v = 1
		}
		p.stuck.StoreSeq(v)
		return nil
	})
}

// SetTxDelaySyncs makes tail late: a sent frame's slot comes back n syncs later.
func (w *World) SetTxDelaySyncs(name string, n int) error {
	return w.with(name, func(p *port) error {
		p.cfg.TxDelaySyncs = n
		for _, k := range p.tx {
			k.lock()
			if k.ring != nil {
				k.due, k.dueSync = make([]int64, k.n), make([]uint64, k.n)
			}
			k.unlock()
		}
		return nil
	})
}

// GrantFewer makes the next registrations of a port get n extra buffers fewer than
// they ask for.
func (w *World) GrantFewer(name string, n int) error {
	return w.with(name, func(p *port) error { p.lessExt = n; return nil })
}

// ResetRing sets the indices of a ring back as a driver's reset does: received frames
// and those on their way out are lost (counted as closed). It is done at once: a client
// that is in the middle of a burst may publish its own indices after it, and frames that
// were counted are sent or read all the same. ResetAtSync keeps the account.
func (w *World) ResetRing(name string, tx bool, ring int) error {
	return w.ring(name, tx, ring, (*kring).setBack)
}

// ResetAtSync is ResetRing at the next sync of the ring, which does nothing else. It is
// for clients that run: each frame is counted once.
func (w *World) ResetAtSync(name string, tx bool, ring int) error {
	return w.ring(name, tx, ring, func(k *kring) { k.resetDue = true })
}

// BreakAtSync is BreakSlot at the end of the ring's next sync: not of a slot that a
// client that runs is just filling or emptying.
func (w *World) BreakAtSync(name string, tx bool, ring int, idx uint32, n uint16) error {
	return w.ring(name, tx, ring, func(k *kring) { k.breakDue = &[2]uint32{idx, uint32(n)} })
}

// breakSlot does what BreakAtSync asked for; the ring is locked.
func (k *kring) breakSlot() {
	if b, i := k.breakDue, k.ring.Head(); b != nil && i < k.n {
		_, _, fl := k.ring.Slot(i).Load()
		k.ring.Slot(i).Store(b[0], uint16(b[1]), fl)
		k.breakDue = nil
	}
}

// setBack is ResetRing; the ring is locked.
func (k *kring) setBack() {
	k.lockProd()
	defer k.unlockProd()
	k.resetDue = false
	k.countLeft()
	for i := uint32(0); i < k.n; i++ {
		if idx, _, _ := k.ring.Slot(i).Load(); k.validBuf(idx) {
			k.dma[i] = idx
		}
	}
	if k.tx {
		k.txDone = k.hwcur
		k.hwtail = k.prev(k.hwcur)
	} else {
		k.hwtail = k.hwcur
		k.prodSlot = k.hwcur
		k.collected = 0
		k.produced.StoreRel(0)
		k.given.StoreRel(uint64(k.n - 1))
	}
	k.rhead, k.rcur = k.hwcur, k.hwcur
	k.ring.SetHeadCur(k.hwcur, k.hwcur)
	k.finalize()
}

// BreakSlot writes a slot as a broken driver or another process could: idx and n are
// stored as they are. Of an RX ring it is the first slot that the client has not
// released, so that it meets it next.
func (w *World) BreakSlot(name string, tx bool, ring int, idx uint32, n uint16) error {
	return w.ring(name, tx, ring, func(k *kring) {
		i := k.ring.Head()
		if i >= k.n {
			i = 0
		}
		_, _, fl := k.ring.Slot(i).Load()
		k.ring.Slot(i).Store(idx, n, fl)
	})
}

func (w *World) ring(name string, tx bool, ring int, f func(k *kring)) error {
	return w.with(name, func(p *port) error {
		rings := p.rx
		if tx {
			rings = p.tx
		}
		if ring < 0 || ring >= len(rings) {
			return fmt.Errorf("nmsim: port %q: no ring %d, it has %d", name, ring, len(rings))
		}
		k := rings[ring]
		k.lock()
		defer k.unlock()
		if k.ring == nil {
			return fmt.Errorf("nmsim: port %q: ring %d is not open", name, ring)
		}
		f(k)
		return nil
	})
}

// scribbler overwrites shared memory at random. It has a lock of its own, which is
// taken under ring locks.
type scribbler struct {
	mu    sync.Mutex
	port  string
	every int
	left  int
	rng   *rand.Rand
}

// Scribble makes one in every syncs of a port's rings (name "" = all ports) end with
// random words in the ring and its slots, drawn from seed: the client must survive it.
// every = 0 ends it.
func (w *World) Scribble(name string, seed uint64, every int) {
	s := &w.hook
	s.mu.Lock()
	defer s.mu.Unlock()
	s.port, s.every, s.left, s.rng = name, every, every, rand.New(rand.NewPCG(seed, 1))
	v := uint32(0)
	if every > 0 {
		v = 1
	}
	w.hooked.StoreSeq(v)
}

// scribble is called at the end of a sync, with the ring locked.
func (w *World) scribble(k *kring) {
	s := &w.hook
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.every <= 0 || (s.port != "" && s.port != k.port.name) {
		return
	}
	if s.left--; s.left > 0 {
		return
	}
	s.left = s.every
	word := func() uint32 {
		switch s.rng.IntN(3) {
		case 0:
			return s.rng.Uint32()
		case 1:
			return s.rng.Uint32N(k.n + 2)
		}
		return s.rng.Uint32N(k.nbuf + 2)
	}
	for n := 1 + s.rng.IntN(4); n > 0; n-- {
		slot := k.ring.Slot(s.rng.Uint32N(k.n))
		switch s.rng.IntN(6) {
		case 0:
			k.ring.SetTail(word())
		case 1:
			k.ring.SetHeadCur(word(), word())
		case 2:
			slot.Store(word(), uint16(word()), uint16(word()))
		case 3:
			idx, _, fl := slot.Load()
			slot.Store(idx, uint16(word()), fl)
		case 4:
			_, n, fl := slot.Load()
			slot.Store(word(), n, fl)
		case 5:
			slot.SetPtr(uint64(word())<<32 | uint64(word()))
		}
	}
}

// HostSend gives a frame to the host stack's side of a port: it arrives in the host RX
// ring (0), or false: the ring is not bound or full.
func (w *World) HostSend(name string, frame []byte) bool {
	var k *kring
	w.with(name, func(p *port) error {
		if p.hostRx > 0 {
			k = p.rx[p.nRx()]
		}
		return nil
	})
	return k != nil && k.deliverBytes(frame)
}

// HostRecv takes the next frame that came up through a host TX ring; nil = none.
func (w *World) HostRecv(name string) (frame []byte) {
	w.with(name, func(p *port) error {
		p.hostQ.mu.Lock()
		defer p.hostQ.mu.Unlock()
		if q := p.hostQ.frames; len(q) > 0 {
			frame, p.hostQ.frames = q[0], q[1:]
		}
		return nil
	})
	return frame
}

// Inject gives a frame to a NIC port as if it came from its cable; false: the ring that
// it belongs to is not bound or full. A port with a Source takes none.
func (w *World) Inject(name string, frame []byte) bool {
	var k *kring
	w.with(name, func(p *port) error {
		if len(frame) >= 14 && p.cfg.Source == nil && p.nRx() > 0 {
			k = p.rssRing(frame)
		}
		return nil
	})
	return k != nil && k.deliverBytes(frame)
}

var _ abi.Kernel = (*kernel)(nil)
