// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"net"
	"time"

	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/platform/netmap/abi"
)

// NICConfig describes a port that behaves like a network card with native netmap
// support. Zero fields mean the default.
type NICConfig struct {
	TxRings, RxRings int    // 1
	TxSlots, RxSlots int    // 1024; any number from 3
	HostRings        int    // per direction, 1; -1 = none
	MemID            uint16 // memory region, 1; ports with different ids can't share buffers
	MAC, PeerMAC     net.HardwareAddr
	MTU              int  // 1500; with MaxFrame the buffer size is checked at open
	Speed            int  // Mbit/s, as told to who asks; 10000
	MoreFrag         bool // frames of several slots
	NoOffsets        bool // refuse the OFFSETS option
	// Offloads are those that a client is told are on, in the system's words ("tso"); the
	// port does nothing of the kind. World.SetOffloads changes them.
	Offloads []string
	// TxDelay and TxDelaySyncs keep a sent frame in the ring: that long, and for that
	// many syncs. Its bytes are read when it leaves.
	TxDelay      time.Duration
	TxDelaySyncs int
	// The far end: a Source that sends to the port, a Sink that checks what the port
	// sends, or a cable to another port (World.Cable).
	Source *SourceConfig
	Sink   *SinkConfig
}

func (c NICConfig) filled(name string) (NICConfig, error) {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&c.TxRings, 1)
	def(&c.RxRings, 1)
	def(&c.TxSlots, abi.DefSlots)
	def(&c.RxSlots, abi.DefSlots)
	def(&c.HostRings, 1)
	def(&c.MTU, 1500)
	def(&c.Speed, 10000)
	c.HostRings = max(0, c.HostRings)
	if c.MemID == 0 {
		c.MemID = 1
	}
	if c.MAC == nil {
		c.MAC = nameMAC(0, name)
	}
	if c.PeerMAC == nil {
		c.PeerMAC = nameMAC(1, name)
	}
	for _, v := range []struct {
		name        string
		v, min, max int
	}{
		{"TxRings", c.TxRings, 1, 256}, {"RxRings", c.RxRings, 1, 256},
		{"TxSlots", c.TxSlots, 3, 8176}, {"RxSlots", c.RxSlots, 3, 8176}, {"HostRings", c.HostRings, 0, 16},
		{"MTU", c.MTU, 68, 65535}, {"bytes of MAC", len(c.MAC), 6, 6}, {"bytes of PeerMAC", len(c.PeerMAC), 6, 6},
	} {
		if v.v < v.min || v.v > v.max {
			return c, fmt.Errorf("%s %d: allowed %d to %d", v.name, v.v, v.min, v.max)
		}
	}
	if s := c.Source; s != nil && !c.MoreFrag && (s.Frags > 1 || s.CutChains) {
		return c, fmt.Errorf("a source with frames of several slots needs MoreFrag")
	}
	return c, nil
}

// nameMAC is a local address that is always the same for a name.
func nameMAC(who byte, name string) net.HardwareAddr {
	h := fnv.New32a()
	h.Write([]byte(name))
	return binary.BigEndian.AppendUint32(net.HardwareAddr{2, who}, h.Sum32())
}

type portKind uint8

const (
	kindNIC portKind = iota
	kindPipe
	kindVALE
	kindNull
)

// port is an adapter: what a name stands for. Under World.mu, but the words that
// syncs read.
type port struct {
	w       *World
	name    string
	kind    portKind
	cfg     NICConfig
	mem     *region
	tx, rx  []*kring // NIC rings, then host rings
	hostTx  int
	hostRx  int
	fds     int // descriptors bound
	gone    bool
	down    bool
	bridge  *bridge // VALE: the switch; NIC: attached by the kernel
	slot    int     // index on the bridge
	keep    bool    // VALE: made by NEWIF
	other   *port   // pipe: the other end
	hdrLen  uint32  // virtio-net header
	peer    *port   // cable, read under ring locks
	lessExt int     // fault: grant so many extra buffers fewer
	promisc bool

	watchers []*watcher

	linkDown relax.Uint32
	stuck    relax.Uint32 // fault: nothing completes
	hostQ    hostQueue
}

func (p *port) nTx() int { return len(p.tx) - p.hostTx }
func (p *port) nRx() int { return len(p.rx) - p.hostRx }

// addRings makes the rings of a new port; memory comes when they are bound.
func (p *port) addRings(tx, rx, host, txSlots, rxSlots int) {
	p.hostTx, p.hostRx = host, host
	p.tx, p.rx = nil, nil
	for i := 0; i < tx+host; i++ {
		k := &kring{port: p, num: i, tx: true, host: i >= tx, n: uint32(txSlots)}
		p.tx = append(p.tx, k)
	}
	for i := 0; i < rx+host; i++ {
		p.rx = append(p.rx, &kring{port: p, num: i, host: i >= rx, n: uint32(rxSlots)})
	}
}

// farEnds connects sources and sinks to the NIC rings.
func (p *port) farEnds() {
	for _, k := range p.rx[:p.nRx()] {
		if p.cfg.Source != nil {
			k.src = p.w.sources.add(func(id uint16) *source { return newSource(id, p, k) })
		}
	}
	var all *flowTable
	for _, k := range p.tx[:p.nTx()] {
		if p.cfg.Sink == nil {
			break
		}
		if all == nil || !p.cfg.Sink.PortOrder {
			all = &flowTable{}
		}
		k.sink = newSink(p.w, p.cfg.Sink, all)
	}
}

// allRings calls f for each ring, until it returns false.
func (p *port) allRings(f func(k *kring) bool) bool {
	for _, k := range p.tx {
		if !f(k) {
			return false
		}
	}
	for _, k := range p.rx {
		if !f(k) {
			return false
		}
	}
	return true
}

// makeRing gives a ring memory: the object, a buffer per slot, its private state.
func (p *port) makeRing(k *kring) bool {
	r := p.mem
	off, ok := r.newRing(k.n)
	if !ok {
		return false
	}
	ring := (*abi.Ring)(ptrAt(r, off))
	dir, tail := uint16(0), uint32(0)
	if k.tx {
		dir, tail = 1, k.n-1
	}
	ring.Init(int64(r.bufOff)-int64(off), k.n, uint32(r.geo.BufSize), uint16(k.num), dir, tail)
	for i := uint32(0); i < k.n; i++ {
		if k.shared() {
			idx, n, fl := k.peer.ring.Slot(i).Load()
			ring.Slot(i).Store(idx, n, fl)
			continue
		}
		idx, ok := r.bufs.take()
		if !ok {
			for j := uint32(0); j < i; j++ {
				idx, _, _ := ring.Slot(j).Load()
				r.bufs.give(idx)
			}
			r.freeRing(off)
			return false
		}
		ring.Slot(i).Store(idx, uint16(min(r.geo.BufSize, 65535)), 0)
		ring.Slot(i).SetPtr(k.offInit & k.offMask)
	}
	k.lock()
	k.lockProd()
	k.off, k.ring = off, ring
	k.buf0, k.bufSize, k.nbuf = r.buf(0), uint32(r.geo.BufSize), uint32(r.geo.BufNum)
	ring.SetOffsetMask(k.offMask)
	k.start()
	state := ringOn
	if p.down {
		state = ringLocked
	}
	if p.gone {
		state = ringStopped
	}
	k.state.StoreRel(state)
	k.unlockProd()
	k.unlock()
	return true
}

// shared reports a pipe's receive ring, whose buffers belong to the sender's ring.
func (k *kring) shared() bool { return k.peer != nil && !k.tx }

// dropRing takes a ring's memory; frames that are in it are lost and counted.
func (p *port) dropRing(k *kring) {
	k.lock()
	k.dropLocked()
	k.unlock()
	k.notify()
}

// dropLocked is dropRing for who has the ring's lock.
func (k *kring) dropLocked() {
	p := k.port
	k.lockProd()
	k.state.StoreRel(ringOff)
	k.countLeft()
	for i := uint32(0); i < k.n && !k.shared(); i++ {
		idx, _, _ := k.ring.Slot(i).Load()
		if idx != 0 {
			p.mem.bufs.give(idx)
		}
	}
	p.mem.freeRing(k.off)
	k.ring, k.buf0 = nil, nil
	k.offMask, k.offInit, k.offMax = 0, 0, 0
	k.unlockProd()
}

// frameEnd is the length of a slot, and whether it is the last of its frame.
func (k *kring) frameEnd(i uint32) (n uint16, last bool) {
	_, n, fl := k.ring.Slot(i).Load()
	return n, fl&abi.SlotMoreFrag == 0
}

// countLeft counts the frames that a closing ring holds: received and not given
// back, or on their way out.
func (k *kring) countLeft() {
	var left uint64
	if k.tx {
		for i := k.txDone; i != k.hwcur && i < k.n; i = k.next(i) {
			if k.info[i]&infoMore == 0 {
				left++
			}
		}
		// Without a carrier a sync takes nothing, and says nothing of it.
		for i := k.hwcur; i != k.rhead && i < k.n; i = k.next(i) {
			if _, last := k.frameEnd(i); last {
				left++
			}
		}
	} else {
		head := k.ring.Head()
		if head >= k.n || !k.between(k.hwcur, head, k.hwtail) {
			head = k.hwcur
		}
		for i := head; i != k.hwtail; i = k.next(i) {
			if n, last := k.frameEnd(i); last && n > 0 {
				left++
			}
		}
		i := k.hwtail
		for c := k.collected; c != k.produced.LoadAcq(); c++ {
			if k.info[i]&infoMore == 0 {
				left++
			}
			i = k.next(i)
		}
	}
	add(&k.c.closed, left)
}
