// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/platform/netmap/abi"
)

// kernel is a World seen through abi.Kernel.
type kernel World

// firstFD keeps the numbers away from small ones that could be real descriptors.
const firstFD = 1 << 20

// file is one open of the device.
type file struct {
	w    *World
	bind atomic.Pointer[binding] // nil = not registered
	dead relax.Uint32            // closed; may still be mapped

	// under World.mu
	fd      int
	mapped  int
	closed  bool
	onReady *waiter
	spare   *waiter // to use again
}

// binding is a registration: what a descriptor's calls act on. It does not change.
type binding struct {
	port      *port
	mem       *region
	nif       uint64 // offset of the If
	tx, rx    []*kring
	txPoll    bool
	exclusive bool
	extra     uint32 // extra buffers granted
}

func (k *kernel) world() *World { return (*World)(k) }

func (w *World) file(fd int) *file {
	if i := uint(fd - firstFD); i < maxFiles {
		return w.files[i].Load()
	}
	return nil
}

func (k *kernel) Name() string { return "nmsim" }

func (k *kernel) Numbers() abi.Numbers {
	if k.cfg.Personality == FreeBSD {
		return abi.FreeBSDNumbers
	}
	return abi.LinuxNumbers
}

func (k *kernel) Open() (int, syscall.Errno) {
	w := k.world()
	if e := w.callFault(CallOpen); e != 0 {
		return -1, e
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.files {
		if w.files[i].Load() == nil {
			f := &file{w: w, fd: i + firstFD}
			w.files[i].Store(f)
			return f.fd, 0
		}
	}
	return -1, syscall.EMFILE
}

// Close ends a descriptor. What it is bound to stays so while it is mapped.
func (k *kernel) Close(fd int) syscall.Errno {
	w := k.world()
	w.mu.Lock()
	f := w.file(fd)
	if f == nil {
		w.mu.Unlock()
		return syscall.EBADF
	}
	w.files[fd-firstFD].Store(nil)
	f.closed = true
	f.dead.StoreSeq(1)
	ready := f.onReady
	f.onReady = nil
	b := f.bind.Load()
	if f.mapped == 0 {
		f.unbind()
	} else {
		w.mapped[f] = true
	}
	w.mu.Unlock()
	if ready != nil {
		ready.cancel()
	}
	if b != nil {
		b.notifyAll()
	}
	return 0
}

func (b *binding) notifyAll() {
	for _, k := range b.tx {
		k.notify()
	}
	for _, k := range b.rx {
		k.notify()
	}
}

func (k *kernel) Ioctl(fd int, req uintptr, arg unsafe.Pointer) syscall.Errno {
	w := k.world()
	f := w.file(fd)
	if f == nil {
		return syscall.EBADF
	}
	n := k.Numbers()
	switch req {
	case n.TxSync, n.RxSync:
		if w.faulty.LoadAcq() != 0 {
			call := CallTxSync
			if req == n.RxSync {
				call = CallRxSync
			}
			if e := w.callFault(call); e != 0 {
				return e
			}
		}
		b := f.bind.Load()
		if b == nil {
			return syscall.ENXIO
		}
		return b.sync(req == n.TxSync)
	case n.Ctrl:
		if e := w.callFault(CallCtrl); e != 0 {
			return e
		}
		return f.ctrl(arg)
	}
	if w.cfg.Personality == FreeBSD {
		return syscall.ENXIO // taken for a request to an interface that does not exist
	}
	return syscall.EOPNOTSUPP
}

// mapping is a client's view of a region; all of one region are at one place.
type mapping struct {
	f    *file
	r    *region
	off  uint64
	size uint64
	done atomic.Bool
}

func (m *mapping) Off() uint64  { return m.off }
func (m *mapping) Size() uint64 { return m.size }

// Unmap ends the mapping; the second call does nothing.
func (m *mapping) Unmap() error {
	if m.done.Swap(true) {
		return nil
	}
	w := m.f.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	m.f.mapped--
	if m.f.mapped == 0 && m.f.closed {
		delete(w.mapped, m.f)
		m.f.unbind()
	}
	m.r.drop(w)
	return nil
}

func (k *kernel) Map(fd int, size uint64) (abi.Mapping, syscall.Errno) {
	w := k.world()
	if e := w.callFault(CallMap); e != 0 {
		return nil, e
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.file(fd)
	if f == nil {
		return nil, syscall.EBADF
	}
	b := f.bind.Load()
	if b == nil || size == 0 {
		return nil, syscall.EINVAL
	}
	if size > b.mem.size {
		// FreeBSD maps it, and a touch behind the end is a fault
		if w.cfg.Personality == Linux {
			return nil, syscall.EINVAL
		}
		size = b.mem.size
	}
	if e := b.mem.hold(w); e != 0 {
		return nil, e
	}
	f.mapped++
	return &mapping{f: f, r: b.mem, off: b.mem.mem.Off, size: size}, 0
}

func (k *kernel) Poll(fd int, events int16, d time.Duration) (int16, syscall.Errno) {
	w := k.world()
	f := w.file(fd)
	if f == nil {
		return 0, syscall.EBADF
	}
	if w.faulty.LoadAcq() != 0 {
		if e := w.callFault(CallPoll); e != 0 {
			return 0, e
		}
	}
	return f.poll(events, d), 0
}

func (k *kernel) Descriptor(fd int) int { return -1 }

// OnReady: see abi.Kernel. wake may be called in the middle of another port's sync: it
// must not call back into the kernel.
func (k *kernel) OnReady(fd int, wake func()) (time.Duration, bool) {
	w := k.world()
	f := w.file(fd)
	if f == nil {
		return 0, wake != nil
	}
	w.mu.Lock()
	wt := f.onReady
	f.onReady = nil
	if wt != nil {
		w.mu.Unlock()
		wt.cancel()
	} else {
		wt, f.spare = f.spare, nil
		w.mu.Unlock()
	}
	if wt == nil {
		wt = new(waiter)
	}
	b := f.bind.Load()
	if wake == nil || b == nil {
		f.keep(wt)
		return 0, wake != nil
	}
	wt.arm(wake, b.rx)
	var due int64
	for _, r := range b.rx {
		d, now := r.ready()
		if now && wt.cancel() {
			f.keep(wt)
			return 0, true
		}
		if d > 0 && (due == 0 || d < due) {
			due = d
		}
	}
	w.mu.Lock()
	f.onReady = wt
	closed := f.closed
	w.mu.Unlock()
	if closed && wt.cancel() {
		return 0, true
	}
	return time.Duration(due), false
}

// keep puts a waiter that is on no ring by, for the next OnReady.
func (f *file) keep(wt *waiter) {
	f.w.mu.Lock()
	f.spare = wt
	f.w.mu.Unlock()
}
