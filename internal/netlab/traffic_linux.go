// SPDX-License-Identifier: Apache-2.0

package netlab

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"net"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// patience is how long something may take that should be there at once.
const patience = 10 * time.Second

// Addresses of the hosts of a line.
const (
	AddrA, AddrB   = "10.9.0.1", "10.9.0.2"
	Addr6A, Addr6B = "fd09::1", "fd09::2"
)

// TCP sends n bytes from one host to an address of the other, and n bytes back, and
// compares them.
func TCP(t testing.TB, from, to *Host, addr string, n int) {
	t.Helper()
	var ln net.Listener
	var err error
	to.Do(func() { ln, err = net.Listen("tcp", net.JoinHostPort(addr, "0")) })
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i * 2654435761 >> 7)
	}
	end := time.Now().Add(patience + time.Duration(n)*time.Second>>20)
	served := make(chan error, 1)
	go func() {
		c, err := ln.Accept()
		if err != nil {
			served <- err
			return
		}
		defer c.Close()
		c.SetDeadline(end)
		h := sha256.New()
		if _, err := io.CopyN(h, c, int64(n)); err != nil {
			served <- fmt.Errorf("server: %w", err)
			return
		}
		want := sha256.Sum256(data)
		if !bytes.Equal(h.Sum(nil), want[:]) {
			served <- fmt.Errorf("the bytes differ")
			return
		}
		_, err = c.Write(data)
		served <- err
	}()
	var c net.Conn
	from.Do(func() { c, err = (&net.Dialer{Deadline: end}).Dial("tcp", ln.Addr().String()) })
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	defer c.Close()
	c.SetDeadline(end)
	if _, err := c.Write(data); err != nil {
		t.Fatalf("client: %v", err)
	}
	back := make([]byte, n)
	if _, err := io.ReadFull(c, back); err != nil {
		t.Fatalf("client: %v", err)
	}
	if !bytes.Equal(back, data) {
		t.Fatal("the bytes that came back differ")
	}
	if err := <-served; err != nil {
		t.Fatal(err)
	}
}

// Ping sends ICMP echo requests with size payload bytes until one is answered, and
// returns how long that answer took; ok is false when none was within limit.
func Ping(t testing.TB, from *Host, addr string, size int, limit time.Duration) (rtt time.Duration, ok bool) {
	t.Helper()
	var c net.PacketConn
	var err error
	from.Do(func() { c, err = net.ListenPacket("ip4:icmp", "0.0.0.0") })
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body := make([]byte, 8+size)
	body[0] = 8
	for i := range size {
		body[8+i] = byte(i)
	}
	in := make([]byte, 70000)
	end := time.Now().Add(limit)
	for seq := uint16(1); time.Now().Before(end); seq++ {
		binary.BigEndian.PutUint16(body[6:], seq)
		body[2], body[3] = 0, 0
		binary.BigEndian.PutUint16(body[2:], sum(body))
		sent := time.Now()
		if _, err := c.WriteTo(body, &net.IPAddr{IP: net.ParseIP(addr)}); err != nil {
			time.Sleep(10 * time.Millisecond) // the neighbour is not known, or the link is down
			continue
		}
		c.SetReadDeadline(earlier(end, sent.Add(500*time.Millisecond)))
		for {
			n, _, err := c.ReadFrom(in)
			if err != nil {
				break
			}
			if n == len(body) && in[0] == 0 && bytes.Equal(in[4:n], body[4:]) {
				return time.Since(sent), true
			}
		}
	}
	return 0, false
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func sum(b []byte) uint16 {
	var s uint32
	for i := 0; i+1 < len(b); i += 2 {
		s += uint32(b[i])<<8 | uint32(b[i+1])
	}
	if len(b)&1 == 1 {
		s += uint32(b[len(b)-1]) << 8
	}
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return ^uint16(s)
}

// Raw sends and receives whole frames on an interface, independent of the platforms
// under test.
type Raw struct {
	t  testing.TB
	fd int
}

// Raw opens a packet socket on an interface.
func (h *Host) Raw(name string) *Raw {
	h.t.Helper()
	r := &Raw{t: h.t}
	h.Do(func() {
		var err error
		r.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
		h.check("packet socket", err)
		n, err := net.InterfaceByName(name)
		h.check(name, err)
		h.check("PACKET_AUXDATA", unix.SetsockoptInt(r.fd, unix.SOL_PACKET, unix.PACKET_AUXDATA, 1))
		h.check("PACKET_IGNORE_OUTGOING", unix.SetsockoptInt(r.fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1))
		h.check("SO_RCVBUF", unix.SetsockoptInt(r.fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 64<<20))
		h.check("bind", unix.Bind(r.fd, &unix.SockaddrLinklayer{Protocol: bits.ReverseBytes16(unix.ETH_P_ALL), Ifindex: n.Index}))
	})
	h.t.Cleanup(r.Close)
	return r
}

// Close closes the socket.
func (r *Raw) Close() {
	if r.fd >= 0 {
		unix.Close(r.fd)
		r.fd = -1
	}
}

// Send sends a frame.
func (r *Raw) Send(frame []byte) error {
	_, err := unix.Write(r.fd, frame)
	return err
}

// Recv returns the next frame with its tag in place, nil when none came within d.
func (r *Raw) Recv(d time.Duration) []byte {
	p := []unix.PollFd{{Fd: int32(r.fd), Events: unix.POLLIN}}
	end := time.Now().Add(d)
	for {
		left := time.Until(end)
		if left < 0 {
			return nil
		}
		if n, err := unix.Poll(p, int(left/time.Millisecond)+1); n == 0 || err != nil {
			continue
		}
		b, oob := make([]byte, 70000), make([]byte, 256)
		n, m, _, _, err := unix.Recvmsg(r.fd, b, oob, unix.MSG_DONTWAIT)
		if err != nil {
			continue
		}
		b = b[:n]
		msgs, _ := unix.ParseSocketControlMessage(oob[:m])
		for _, c := range msgs {
			if c.Header.Level == unix.SOL_PACKET && c.Header.Type == unix.PACKET_AUXDATA {
				a := *(*unix.TpacketAuxdata)(unsafe.Pointer(&c.Data[0]))
				if a.Status&unix.TP_STATUS_VLAN_VALID != 0 {
					tag := binary.BigEndian.AppendUint16(nil, a.Vlan_tpid)
					tag = binary.BigEndian.AppendUint16(tag, a.Vlan_tci)
					b = append(b[:12:12], append(tag, b[12:]...)...)
				}
			}
		}
		return b
	}
}

// Expect waits for a frame, past others.
func (r *Raw) Expect(want []byte) bool {
	end := time.Now().Add(patience)
	for time.Now().Before(end) {
		if got := r.Recv(time.Until(end)); bytes.Equal(got, want) {
			return true
		}
	}
	return false
}

// Flood sends short frames from all of the sockets as fast as it can, for d, and returns
// how many the kernel took.
func Flood(d time.Duration, from ...*Raw) (sent int) {
	n := make(chan int)
	for _, r := range from {
		go func() {
			frame := append(bytes.Repeat([]byte{2}, 12), bytes.Repeat([]byte{0x88, 0xb5}, 24)...)
			took := 0
			for end := time.Now().Add(d); time.Now().Before(end); {
				for range 64 {
					if r.Send(frame) == nil {
						took++
					}
				}
			}
			n <- took
		}()
	}
	for range from {
		sent += <-n
	}
	return sent
}
