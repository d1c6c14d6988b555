// SPDX-License-Identifier: Apache-2.0

package pktio

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/worker"
)

// devKey names an open device in the process.
type devKey struct {
	ns  uint64 // network namespace
	dev string // kind:device
}

// device is an open device, shared by its handles: rings and their locks.
type device struct {
	key    devKey
	drv    driver.Device
	info   driver.Info
	set    *worker.Set
	level  LockLevel
	shared bool
	rx     []*rxRing
	tx     []*txRing

	mu      sync.Mutex // guards what follows
	ready   bool       // opened completely: further handles may come
	handles []*Port
	started int
	opened  time.Time
}

// rxRing is a receive ring of a device.
type rxRing struct {
	dev    *device
	q      driver.RxQueue
	waiter driver.Waiter // nil: the driver knows no way to wait
	index  int
	lk     *lock  // level none: for the control plane only
	own    *owner // level none
	_      relax.Pad
	// armed is not 0 while somebody sleeps on the ring; armedFD: nobody else may
	// touch it, because polling the descriptor moves the ring's frames.
	armed relax.Uint32
	_     relax.Pad
}

const (
	notArmed uint32 = iota
	armedWake
	armedFD
)

// txRing is a send ring of a device.
type txRing struct {
	dev     *device
	q       driver.TxQueue
	index   int
	lk      *lock
	own     *owner
	stage   staging
	scratch [64]*buffer.Packet // what drain looks at; under lk
	kick    kicker
	lost    relax.Uint64 // staged packets freed because the device failed or closed
}

// owner is the user of a ring at level none.
type owner struct {
	_ relax.Pad
	w atomic.Pointer[worker.Worker]
	// busy is who is inside a call (as lock.word). The user writes it with a plain
	// store before he looks at the port's state; Close writes the state, gives such
	// stores time to be seen (settle), and waits for busy to be 0.
	busy relax.Uint32
	// token is not 0 when a scheduled queue owns the ring: the workers take turns
	token atomic.Pointer[string]
	_     relax.Pad
}

// devices is the process's registry of open devices.
var (
	regMu   sync.Mutex
	devices = map[devKey]*device{}
	ports   [MaxPorts]atomic.Pointer[Port]
)

// MaxPorts is the largest number of ports that a process can have open; Port.Index is below.
const MaxPorts = 1024

// build makes the rings and locks of a freshly opened device.
func (d *device) build(stageSlots int) error {
	in := d.info
	if in.RxQueues < 0 || in.TxQueues < 0 || in.RxQueues+in.TxQueues == 0 || in.RxQueues > maxQueues || in.TxQueues > maxQueues {
		return fmt.Errorf("device %q: the driver opened %d receive and %d send queues: allowed are 0 to %d, and one at least", d.key.dev, in.RxQueues, in.TxQueues, maxQueues)
	}
	n := max(in.RxQueues, in.TxQueues)
	rxl, txl := make([]*lock, n), make([]*lock, n)
	rxo, txo := make([]*owner, n), make([]*owner, n)
	for i := range n {
		rxl[i], rxo[i] = new(lock), new(owner)
		if d.level == LockDevice || d.level == LockPktio {
			rxl[i] = rxl[0]
		}
		txl[i], txo[i] = rxl[i], rxo[i]
		if in.SplitDir {
			txl[i], txo[i] = new(lock), new(owner)
			if d.level == LockDevice || d.level == LockPktio {
				txl[i] = txl[0]
			}
		}
	}
	for i := range in.RxQueues {
		r := &rxRing{dev: d, q: d.drv.Rx(i), index: i, lk: rxl[i], own: rxo[i]}
		r.waiter, _ = r.q.(driver.Waiter)
		d.rx = append(d.rx, r)
	}
	for i := range in.TxQueues {
		t := &txRing{dev: d, q: d.drv.Tx(i), index: i, lk: txl[i], own: txo[i]}
		t.stage.init(stageSlots)
		t.kick.init(t.lk)
		t.lk.tx = append(t.lk.tx, t)
		d.tx = append(d.tx, t)
	}
	return nil
}

// drain sends the packets that are staged now; the caller holds the lock. It
// reports whether some stay because the device is full.
func (r *txRing) drain(w *worker.Worker) (full bool) {
	for left := r.stage.pending(); left > 0; {
		n := r.stage.peek(r.scratch[:])
		if n == 0 {
			return false
		}
		left -= n
		sent, err := r.q.Send(w, r.scratch[:n])
		r.stage.take(sent)
		if err != nil {
			// the device takes nothing any more: what was promised is lost, and counted
			n = r.stage.peek(r.scratch[:])
			r.stage.take(n)
			buffer.FreePackets(w, r.scratch[:n])
			r.lost.Add(uint64(n))
			continue
		}
		if sent < n {
			r.kick.later()
			return true
		}
	}
	return false
}

// locks returns each lock of the device once.
func (d *device) locks() []*lock {
	seen := map[*lock]bool{}
	var out []*lock
	add := func(l *lock) {
		if !seen[l] {
			seen[l] = true
			out = append(out, l)
		}
	}
	for _, r := range d.rx {
		add(r.lk)
	}
	for _, r := range d.tx {
		add(r.lk)
	}
	return out
}

// owners returns the owner cells of the device and of the lanes of its last
// handle, some twice.
func (d *device) owners(p *Port) (out []*owner) {
	for _, in := range p.in {
		out = append(out, in.own)
	}
	for _, r := range d.rx {
		out = append(out, r.own)
	}
	for _, r := range d.tx {
		out = append(out, r.own)
	}
	return out
}

// holders describes who has the device open, for an error.
func (d *device) holders() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := ""
	for i, p := range d.handles {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprintf("port %d", p.index)
	}
	if s == "" {
		s = "a port that is being opened or closed"
	}
	how := "not shared"
	if d.shared {
		how = "shared"
	}
	return fmt.Sprintf("%s of this process (opened %s, %s, lock level %s)", s, d.opened.Format("15:04:05.000"), how, d.level)
}

// kicker comes back to a device where packets stayed staged (it was full, or the
// holder had served others long enough), so that they
// leave even when nobody sends any more. At most one timer runs per ring.
type kicker struct {
	lk    *lock
	armed relax.Uint32
	timer *time.Timer
}

const kickAfter = 100 * time.Microsecond

func (k *kicker) init(l *lock) {
	k.lk = l
	k.timer = time.AfterFunc(time.Hour, k.run)
	k.timer.Stop()
}

// later comes back in a while. Any goroutine.
func (k *kicker) later() {
	if k.armed.LoadAcq() == 0 && k.armed.CAS(0, 1) {
		k.timer.Reset(kickAfter)
	}
}

// run sends what is staged, on a goroutine of the runtime: a panic of the driver
// must not end the process here. The next sender meets it, on a worker.
func (k *kicker) run() {
	k.armed.StoreSeq(0)
	defer func() {
		if recover() != nil && k.lk.word.CAS(heldKicker, 0) && k.lk.dirty.LoadAcq() != 0 {
			k.later() // somebody staged since drain began
		}
	}()
	k.lk.serveAs(heldKicker, nil)
}
