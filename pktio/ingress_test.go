// SPDX-License-Identifier: Apache-2.0

package pktio_test

import (
	"net"
	"strings"
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/header"
	"github.com/odp-go/godp/pktio"
	"github.com/odp-go/godp/worker"
)

// A frame that comes in pieces of any size is parsed and hashed like a whole one.
func TestHeadersOverSegments(t *testing.T) {
	for _, hash := range []pktio.Hash{pktio.HashNone, pktio.HashToeplitz, pktio.HashSymmetric} {
		p := open(t, newSet(t, 2), "loop:segments"+hash.String(), pktio.Config{Hash: hash})
		start(t, p)
		w, err := p.Set().Join(worker.KindWorker)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []struct{ len, tags int }{{300, 0}, {400, 2}, {60, 0}} {
			b := udpFrame(f.len, f.tags)
			var want buffer.Flags
			var hashes []uint32
			for _, head := range []int{len(b), 1, 6, 14, 15, 20, 34, 41, 59} {
				k := p.Pool().AllocPacket(w, head)
				k.PushTail(k.Tailroom()) // no room behind: what follows stays a segment of its own
				k.PullHead(k.Len() - head)
				if err := k.CopyFromMem(0, b[:head]); err != nil {
					t.Fatal(err)
				}
				for rest := b[head:]; len(rest) > 0; {
					n := min(len(rest), 50)
					s := p.Pool().AllocPacket(w, n)
					if err := s.CopyFromMem(0, rest[:n]); err != nil {
						t.Fatal(err)
					}
					if err := k.Concat(w, s); err != nil {
						t.Fatal(err)
					}
					rest = rest[n:]
				}
				pkts := []*buffer.Packet{k}
				if n, err := p.Out(0).Send(w, pkts); n != 1 || err != nil {
					t.Fatal(n, err)
				}
				if n, err := p.In(0).Recv(w, pkts); n != 1 || err != nil {
					t.Fatal(n, err)
				}
				k = pkts[0]
				h, ok := k.FlowHash()
				if head == len(b) {
					want = k.Flags()
				} else if k.NumSegs() < 2 {
					t.Fatalf("%v with %d bytes first: %d segments", f, head, k.NumSegs())
				}
				if k.Flags() != want || !k.HasUDP() || k.HasError() || int(k.L4Offset()) != 34+4*f.tags {
					t.Errorf("%v with %d bytes first: flags %#x, want %#x; layer 4 at %d", f, head, k.Flags(), want, k.L4Offset())
				}
				if ok != (hash != pktio.HashNone) {
					t.Errorf("hash %v: %v", hash, ok)
				}
				hashes = append(hashes, h, pktio.FlowHash(k, hash))
				buffer.FreePackets(w, pkts)
			}
			for _, h := range hashes {
				if hash != pktio.HashNone && (h != hashes[0] || h == 0) {
					t.Errorf("%v, hash %v: values %x", f, hash, hashes)
					break
				}
			}
		}
		w.Leave()
	}
}

// udpFrame makes an UDP frame of n bytes behind some VLAN tags.
func udpFrame(n, tags int) []byte {
	b := []byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1}
	for range tags {
		b = append(b, 0x81, 0, 0, 5)
	}
	b = append(b, 8, 0)
	ip := make(header.IPv4, n-len(b))
	ip.Encode(&header.IPv4Fields{TTL: 64, Protocol: header.ProtoUDP, Src: [4]byte{10, 0, 0, 1}, Dst: [4]byte{10, 0, 0, 2}})
	header.UDP(ip[20:]).Encode(1000, 2000)
	return append(b, ip...)
}

func TestSetMAC(t *testing.T) {
	a := net.HardwareAddr{2, 1, 2, 3, 4, 5}
	for _, name := range []string{"loop:mac", "null:mac"} {
		p := open(t, newSet(t, 2), name, pktio.Config{})
		old := p.MAC()
		for _, bad := range []net.HardwareAddr{nil, a[:5], append(a, 6), {1, 0, 0, 0, 0, 1}, make([]byte, 6)} {
			if err := p.SetMAC(bad); err == nil || !strings.Contains(err.Error(), "allowed") {
				t.Errorf("%s: SetMAC(%v): %v", name, bad, err)
			}
		}
		if p.MAC().String() != old.String() {
			t.Errorf("%s: a refused address was set", name)
		}
		if err := p.SetMAC(a); err != nil || p.MAC().String() != a.String() {
			t.Errorf("%s: %v, %v", name, err, p.MAC())
		}
		p.MAC()[0] = 7
		if p.MAC().String() != a.String() {
			t.Errorf("%s: what MAC gives is the device's own memory", name)
		}
	}
}

func TestPrintPort(t *testing.T) {
	p := open(t, newSet(t, 2), "loop:print", pktio.Config{RxQueues: 2})
	start(t, p)
	k := []*buffer.Packet{p.Pool().AllocPacket(nil, 60)}
	if n, _ := p.Out(0).Send(nil, k); n != 1 {
		t.Fatal(n)
	}
	for _, want := range []string{`"loop:print" (loop), running, lock level queue`, "receive queues 2 of 64", p.MAC().String(), "media virtual", "sent 1"} {
		if s := p.String(); !strings.Contains(s, want) {
			t.Errorf("no %q in\n%s", want, s)
		}
	}
	if l := p.Link(); !l.Up || l.Media != "virtual" {
		t.Errorf("%v", l)
	}
}

// Since is what a reset in between would have left.
func TestStatsSince(t *testing.T) {
	p := open(t, newSet(t, 2), "loop:since?full=drop&slots=4", pktio.Config{})
	start(t, p)
	send := func(n int) {
		for range n {
			k := []*buffer.Packet{p.Pool().AllocPacket(nil, 100)}
			if m, err := p.Out(0).Send(nil, k); m != 1 || err != nil {
				t.Fatal(m, err)
			}
		}
	}
	var pkts [8]*buffer.Packet
	send(3)
	n, err := p.In(0).Recv(nil, pkts[:])
	if n != 3 || err != nil {
		t.Fatal(n, err)
	}
	buffer.FreePackets(nil, pkts[:n])
	old := p.Stats()
	send(6) // 4 fit
	n, err = p.In(0).Recv(nil, pkts[:2])
	if n != 2 || err != nil {
		t.Fatal(n, err)
	}
	buffer.FreePackets(nil, pkts[:n])
	now := p.Stats()
	s := now.Since(old)
	if s.RxPackets() != 2 || s.TxPackets() != 6 || s.In[0].Bytes != 200 || s.In[0].Polls != 1 || s.Out[0].Bytes != 600 || s.Out[0].Calls != 6 || s.Out[0].Drops["ring_full"] != 2 {
		t.Errorf("since: %+v", s)
	}
	if now.RxPackets() != 5 || now.Out[0].Drops["ring_full"] != 2 || old.RxPackets() != 3 {
		t.Error("a reading was changed")
	}
	var all uint64
	for _, b := range s.In[0].Bursts {
		all += b
	}
	if all != 1 {
		t.Errorf("bursts %v", s.In[0].Bursts)
	}
}
