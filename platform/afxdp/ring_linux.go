// SPDX-License-Identifier: Apache-2.0

package afxdp

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/odp-go/godp/internal/relax"
)

// ring is one of the four rings that a socket shares with the kernel. Indices run
// freely over 2^32. One side writes producer, the other consumer:
//
//	fill        we produce      addresses of free frames, to receive into
//	rx          kernel produces descriptors of received frames
//	tx          we produce      descriptors of frames to send
//	completion  kernel produces addresses of sent frames
//
//	          consumer          producer
//	 … free …  |── filled ──────|  … free …
type ring struct {
	mem      []byte
	producer *relax.Uint32 // partner: the kernel
	consumer *relax.Uint32 // partner: the kernel
	flags    *relax.Uint32 // written by the kernel: need wakeup
	desc     unsafe.Pointer
	mask     uint32
	size     uint32
	own      uint32 // our index: not yet published, when we produce
}

// newRing lays a ring over mapped memory.
func newRing(mem []byte, o unix.XDPRingOffset, size uint32) ring {
	p := unsafe.Pointer(unsafe.SliceData(mem))
	r := ring{mem: mem, size: size, mask: size - 1, desc: unsafe.Add(p, o.Desc)}
	r.producer = (*relax.Uint32)(unsafe.Add(p, o.Producer))
	r.consumer = (*relax.Uint32)(unsafe.Add(p, o.Consumer))
	r.flags = (*relax.Uint32)(unsafe.Add(p, o.Flags))
	return r
}

// addr is entry i of a ring of addresses.
func (r *ring) addr(i uint32) *uint64 {
	return (*uint64)(unsafe.Add(r.desc, uintptr(i&r.mask)*8))
}

// descr is entry i of a ring of descriptors.
func (r *ring) descr(i uint32) *unix.XDPDesc {
	return (*unix.XDPDesc)(unsafe.Add(r.desc, uintptr(i&r.mask)*unsafe.Sizeof(unix.XDPDesc{})))
}

// room returns how many entries we can produce.
func (r *ring) room() uint32 { return min(r.size-(r.own-r.consumer.LoadAcq()), r.size) }

// filled returns how many entries the kernel has produced for us. More than there
// can be is nonsense of the other side: none are taken.
func (r *ring) filled() uint32 {
	if n := r.producer.LoadAcq() - r.own; n <= r.size {
		return n
	}
	return 0
}

// publish makes what was produced visible. The look at the wake-up flag follows it.
func (r *ring) publish() { r.producer.StoreSeq(r.own) }

// release gives consumed entries back.
func (r *ring) release() { r.consumer.StoreRel(r.own) }

// wants reports whether the kernel waits to be woken. partner: publish.
func (r *ring) wants() bool { return r.flags.LoadAcq()&unix.XDP_RING_NEED_WAKEUP != 0 }
