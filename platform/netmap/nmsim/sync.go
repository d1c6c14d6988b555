// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"syscall"
	"unsafe"

	"github.com/odp-go/godp/platform/netmap/abi"
)

func ptrAt(r *region, off uint64) unsafe.Pointer { return unsafe.Add(r.base, uintptr(off)) }

// What trying to begin a sync of a ring found.
type grab uint8

const (
	grabbed grab = iota
	grabBusy
	grabStopped
)

// grab takes the ring's lock for a sync. A ring of an interface that is down is a
// stopped one, or one to sleep on when the World blocks.
func (k *kring) grab() grab {
	for {
		if !k.tryLock() {
			return grabBusy
		}
		switch k.state.LoadAcq() {
		case ringOn:
			k.syncs++
			return grabbed
		case ringLocked:
			k.unlock()
			if !k.port.w.sleepDown(k) {
				return grabStopped
			}
			continue
		case ringStopped:
			k.unlock()
			return grabStopped
		}
		k.unlock()
		return grabBusy
	}
}

// txSync does one ring; false: wrong indices or a driver's error, nothing moved. The
// ring is locked.
func (k *kring) txSync() bool {
	ok := k.txPrologue()
	if ok && k.resetDue {
		k.setBack()
		return true
	}
	if ok = ok && k.txHW(); !ok {
		k.reinit()
		return false
	}
	k.finalize()
	k.breakSlot()
	return true
}

func (k *kring) txHW() bool {
	switch k.port.kind {
	case kindPipe:
		return k.pipeTx()
	case kindVALE:
		return k.valeTx()
	}
	return k.nicTx()
}

// rxSync does one ring; see txSync.
func (k *kring) rxSync() bool {
	ok := k.rxPrologue()
	if ok && k.resetDue {
		k.setBack()
		return true
	}
	if ok {
		if k.peer != nil {
			ok = k.pipeRx()
		} else {
			ok = k.nicRx()
		}
	}
	if !ok {
		k.reinit()
	} else {
		k.finalize()
		k.breakSlot()
	}
	if w := k.port.w; !w.cfg.NoTimestamp || k.ring.Flags()&abi.RingTimestamp != 0 {
		k.ring.SetTime(w.wall())
	}
	return ok
}

// sync is NIOCTXSYNC and NIOCRXSYNC: every bound ring of a direction. A busy ring and
// wrong indices are no error.
func (b *binding) sync(tx bool) (err syscall.Errno) {
	rings := b.rx
	if tx {
		rings = b.tx
	}
	hooked := b.port.w.hooked.LoadAcq() != 0
	for _, k := range rings {
		switch k.grab() {
		case grabStopped:
			err = syscall.EIO
			continue
		case grabBusy:
			continue
		}
		if tx {
			k.txSync()
		} else {
			k.rxSync()
		}
		if hooked {
			b.port.w.scribble(k)
		}
		k.unlock()
	}
	return err
}
