// SPDX-License-Identifier: Apache-2.0

package afxdp

import (
	"errors"
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/platform/internal/nic"
)

// xsk is a socket on one queue of the interface, with its four rings.
type xsk struct {
	d     *device
	u     *umem
	fd    int
	id    uint8 // in umem.holder
	queue int   // of the interface
	slots uint32
	fill  ring
	comp  ring
	rx    ring
	tx    ring
	free  []uint32 // spare frames of the send side
	flags uint16   // what it was bound with
	last  unix.XDPStatistics
}

// errShare is returned when a socket can't use the UMEM of another interface.
var errShare = errors.New("the UMEM can't be shared with this interface")

// newXsk makes a socket with its rings, and binds it. share is a bound socket of the
// same UMEM, nil for the first; flags are for the first.
func (d *device) newXsk(u *umem, queue, slots int, share *xsk, flags uint16) (*xsk, error) {
	s := &xsk{d: d, u: u, fd: -1, queue: queue, slots: uint32(slots)}
	if err := s.open(share, flags); err != nil {
		s.closeSocket()
		return nil, err
	}
	return s, nil
}

func (s *xsk) open(share *xsk, flags uint16) error {
	d, u := s.d, s.u
	err := d.Gate.Do("socket(AF_XDP)", func() (err error) {
		s.fd, err = unix.Socket(unix.AF_XDP, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		return err
	})
	if err != nil {
		cure := ""
		if errors.Is(err, unix.EAFNOSUPPORT) {
			cure = "the kernel was built without CONFIG_XDP_SOCKETS: use afpacket"
		}
		return d.Fail("make a socket", err, cure)
	}
	if share == nil {
		reg := unix.XDPUmemReg{Addr: uint64(uintptr(arena.At(u.mem.Off))), Len: uint64(u.total) << u.shift, Size: u.size}
		if err := d.set(s.fd, unix.XDP_UMEM_REG, unsafe.Pointer(&reg), unsafe.Sizeof(reg), "XDP_UMEM_REG"); err != nil {
			return d.umemError(err, reg.Len)
		}
	}
	n := s.slots
	for _, r := range []struct {
		opt  int
		name string
	}{{unix.XDP_UMEM_FILL_RING, "XDP_UMEM_FILL_RING"}, {unix.XDP_UMEM_COMPLETION_RING, "XDP_UMEM_COMPLETION_RING"}, {unix.XDP_RX_RING, "XDP_RX_RING"}, {unix.XDP_TX_RING, "XDP_TX_RING"}} {
		if err := d.set(s.fd, r.opt, unsafe.Pointer(&n), 4, r.name); err != nil {
			return d.Fail("make a ring of "+fmt.Sprint(n)+" slots ("+r.name+")", err, "ask for fewer slots (slots=)")
		}
	}
	if err := s.mapRings(n); err != nil {
		return err
	}
	return s.bind(share, flags)
}

func (d *device) set(fd, opt int, p unsafe.Pointer, n uintptr, name string) error {
	return d.Gate.Do("setsockopt("+name+")", func() error {
		if _, _, errno := unix.Syscall6(unix.SYS_SETSOCKOPT, uintptr(fd), unix.SOL_XDP, uintptr(opt), uintptr(p), n, 0); errno != 0 {
			return errno
		}
		return nil
	})
}

// umemError explains why memory was not registered.
func (d *device) umemError(err error, need uint64) error {
	var lim unix.Rlimit
	if errors.Is(err, unix.ENOBUFS) && unix.Getrlimit(unix.RLIMIT_MEMLOCK, &lim) == nil {
		return &nic.Error{Op: "register the UMEM", Device: d.Name, Err: err,
			Why:  fmt.Sprintf("%d bytes are to be locked, RLIMIT_MEMLOCK allows %d", need, lim.Cur),
			Cure: "raise it (ulimit -l, LimitMEMLOCK= of systemd), give the program CAP_IPC_LOCK, or ask for fewer packets (packets=)"}
	}
	return d.Fail(fmt.Sprintf("register a UMEM of %d bytes", need), err, "")
}

func (s *xsk) mapRings(n uint32) error {
	d := s.d
	var off unix.XDPMmapOffsets
	err := d.Gate.Do("getsockopt(XDP_MMAP_OFFSETS)", func() error {
		size := uint32(unsafe.Sizeof(off))
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(s.fd), unix.SOL_XDP, unix.XDP_MMAP_OFFSETS, uintptr(unsafe.Pointer(&off)), uintptr(unsafe.Pointer(&size)), 0)
		if errno != 0 {
			return errno
		}
		if size != uint32(unsafe.Sizeof(off)) {
			return unix.EINVAL // before 5.4: rings have no flags
		}
		return nil
	})
	if err != nil {
		return d.Fail("ask where the rings are", err, "a kernel of 5.10 or later is needed")
	}
	for _, r := range []struct {
		to   *ring
		o    unix.XDPRingOffset
		page int64
		each uint64
	}{
		{&s.fill, off.Fr, unix.XDP_UMEM_PGOFF_FILL_RING, 8}, {&s.comp, off.Cr, unix.XDP_UMEM_PGOFF_COMPLETION_RING, 8},
		{&s.rx, off.Rx, unix.XDP_PGOFF_RX_RING, 16}, {&s.tx, off.Tx, unix.XDP_PGOFF_TX_RING, 16},
	} {
		var mem []byte
		err := d.Gate.Do("mmap", func() (err error) {
			mem, err = unix.Mmap(s.fd, r.page, int(r.o.Desc+uint64(n)*r.each), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
			return err
		})
		if err != nil {
			return d.Fail("map a ring", err, "")
		}
		*r.to = newRing(mem, r.o, n)
	}
	return nil
}

// bind binds the socket to its queue. EBUSY is tried again for a while: the sockets of
// a port that was just closed are let go a little later.
func (s *xsk) bind(share *xsk, flags uint16) error {
	sa := unix.RawSockaddrXDP{Family: unix.AF_XDP, Ifindex: uint32(s.d.Handle.Index), Queue_id: uint32(s.queue), Flags: flags}
	if share != nil {
		sa.Flags, sa.Shared_umem_fd = unix.XDP_SHARED_UMEM, uint32(share.fd)
		flags = share.flags
	}
	var err error
	for try := range 20 {
		if try > 0 {
			time.Sleep(25 * time.Millisecond)
		}
		err = s.d.Gate.Do("bind", func() error {
			if _, _, errno := unix.Syscall(unix.SYS_BIND, uintptr(s.fd), uintptr(unsafe.Pointer(&sa)), unsafe.Sizeof(sa)); errno != 0 {
				return errno
			}
			return nil
		})
		if !errors.Is(err, unix.EBUSY) {
			break
		}
	}
	s.flags = flags
	switch {
	case err == nil:
		return nil
	case share != nil && (errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EINVAL)):
		return errShare
	case errors.Is(err, unix.EBUSY):
		return s.d.Fail(fmt.Sprintf("bind queue %d", s.queue), err, fmt.Sprintf("another AF_XDP socket has it: bpftool link show; bpftool net show dev %s", s.d.ifname))
	case errors.Is(err, unix.EINVAL):
		return s.d.Fail(fmt.Sprintf("bind queue %d", s.queue), err, "the interface has no such queue: ethtool -l "+s.d.ifname)
	}
	return s.d.Fail(fmt.Sprintf("bind queue %d", s.queue), err, "")
}

// provide gives the socket its frames: the fill ring gets a full set, the send side
// another. umemMu is held.
func (s *xsk) provide(slots int) bool {
	s.id = s.u.number()
	if s.id == 0 {
		return false
	}
	rx := s.u.take(slots)
	s.free = s.u.take(slots)
	if rx == nil || s.free == nil {
		s.u.spare = append(s.u.spare, rx...)
		s.u.used[s.id] = false
		return false
	}
	for _, f := range rx {
		*s.fill.addr(s.fill.own) = uint64(f) << s.u.shift
		s.u.holder[f] = s.id
		s.fill.own++
	}
	s.fill.publish()
	s.u.socks = append(s.u.socks, s)
	return true
}

// wakeRx tells the kernel that there are frames in the fill ring again.
func (s *xsk) wakeRx() {
	unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(s.fd), 0, 0, unix.MSG_DONTWAIT, 0, 0)
}

// wakeTx tells the kernel that there is something to send. Any thread.
func (s *xsk) wakeTx() syscall.Errno {
	_, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(s.fd), 0, 0, unix.MSG_DONTWAIT, 0, 0)
	return errno
}

// unsent reports whether the kernel has something to send and waits to be told. Any
// thread. Without need-wakeup it must always be told.
func (s *xsk) unsent() bool {
	return s.tx.consumer.LoadAcq() != s.tx.producer.LoadAcq() && (s.tx.wants() || s.flags&unix.XDP_USE_NEED_WAKEUP == 0)
}

// closeSocket gives the descriptor and the maps back.
func (s *xsk) closeSocket() {
	if s.fd >= 0 {
		unix.Close(s.fd)
		s.fd = -1
	}
	for _, r := range []*ring{&s.fill, &s.comp, &s.rx, &s.tx} {
		if r.mem != nil {
			unix.Munmap(r.mem)
			*r = ring{}
		}
	}
}

// statistics asks the kernel what it dropped.
func (s *xsk) statistics() (st unix.XDPStatistics) {
	size := uint32(unsafe.Sizeof(st))
	unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(s.fd), unix.SOL_XDP, unix.XDP_STATISTICS, uintptr(unsafe.Pointer(&st)), uintptr(unsafe.Pointer(&size)), 0)
	return st
}
