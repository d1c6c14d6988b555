// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/odp-go/godp/odptest"
)

// program1 is a forwarder between two test devices, running in this process.
type program1 struct {
	t         *testing.T
	a, b      *odptest.Device
	cancel    context.CancelFunc
	done      chan int
	out, errs bytes.Buffer
}

// start runs odp_l2fwd on two new devices with more options.
func start(t *testing.T, args string) *program1 {
	t.Helper()
	cfg := odptest.DeviceConfig{PoolPackets: 512}
	p := &program1{t: t, a: odptest.NewDevice(t, cfg), b: odptest.NewDevice(t, cfg), done: make(chan int, 1)}
	p.run(args)
	return p
}

func (p *program1) run(args string) {
	var ctx context.Context
	ctx, p.cancel = context.WithCancel(p.t.Context())
	p.t.Cleanup(p.cancel)
	all := strings.Fields(fmt.Sprintf("-i %s,%s -json %s", p.a.Name(), p.b.Name(), args))
	go func() { p.done <- Main(ctx, all, &p.out, &p.errs) }()
}

// end asks the forwarder to stop and returns its exit status and its account.
func (p *program1) end() (rc int, res result) {
	p.t.Helper()
	p.cancel()
	return p.wait()
}

func (p *program1) wait() (rc int, res result) {
	p.t.Helper()
	select {
	case rc = <-p.done:
	case <-time.After(odptest.Patience):
		p.t.Fatal("it does not end")
	}
	var rep report
	if err := json.Unmarshal(p.out.Bytes(), &rep); err != nil || len(rep.Runs) != 1 {
		p.t.Fatalf("exit status %d, no account: %v: %s%s", rc, err, p.out.String(), p.errs.String())
	}
	return rc, rep.Runs[0]
}

// good ends the forwarder and fails the test if not everything is in order.
func (p *program1) good() result {
	p.t.Helper()
	rc, res := p.end()
	if rc != 0 || res.PoolLeaked != 0 {
		p.t.Fatalf("exit status %d, %d packets leaked: %s", rc, res.PoolLeaked, p.errs.String())
	}
	return res
}

// wire are frames of all kinds that a bridge must not touch behind the addresses.
func wire() [][]byte {
	frames := [][]byte{
		odptest.Frame{Seq: 1}.Bytes(),
		odptest.Frame{Seq: 2, VLAN: []uint16{7<<13 | 5}}.Bytes(),
		odptest.Frame{Seq: 3, VLAN: []uint16{100, 200}, Len: 70}.Bytes(), // QinQ
		odptest.Frame{Seq: 4, VLAN: []uint16{1, 2, 3}, Len: 1518}.Bytes(),
		append([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 9, 0x08, 0x06}, make([]byte, 46)...), // ARP, broadcast
		{1, 0, 0x5e, 0, 0, 1, 2, 0, 0, 0, 0, 9, 0x88, 0xb5},                                                   // a header and nothing else
	}
	for _, n := range []int{1514, 1856, 1857, 4000, 9000, 20000, 65535} { // over one, two and many segments
		frames = append(frames, odptest.Frame{Seq: uint32(n), Len: n}.Bytes())
	}
	return frames
}

// rewritten is what must become of a frame that leaves through interface i.
func rewritten(f []byte, i int, dst, src bool, r string) []byte {
	f = bytes.Clone(f)
	if dst {
		copy(f, []byte{2, 0, 0, 0, 0, byte(i)})
		if r != "" {
			copy(f, []byte{2, 0xaa, 0, 0, 0, byte(i)})
		}
	}
	if src {
		copy(f[6:], []byte{2, 0, 0, 0, 0, 2}) // a test device's own address
	}
	return f
}

// Every combination of -d, -s and -r, in both directions, over all kinds of frames:
// the addresses are written, and no other byte.
func TestRewrite(t *testing.T) {
	for _, c := range []struct {
		dst, src bool
		r        string
	}{
		{true, true, ""}, {true, false, ""}, {false, true, ""}, {false, false, ""},
		{true, true, " -r 02:aa:00:00:00:00,02:aa:00:00:00:01"}, {true, false, " -r 02:aa:00:00:00:00,02:aa:00:00:00:01"},
	} {
		for _, mode := range []string{"burst", "atomic", "burst -p 1", "plain -o 1 -F 4"} {
			bit := map[bool]int{true: 1}
			args := fmt.Sprintf("-m %s -d %d -s %d%s", mode, bit[c.dst], bit[c.src], c.r)
			t.Run(args, func(t *testing.T) {
				p := start(t, args)
				var toB, toA [][]byte
				for _, f := range wire() {
					toB = append(toB, rewritten(f, 1, c.dst, c.src, c.r))
					toA = append(toA, rewritten(f, 0, c.dst, c.src, c.r))
				}
				p.a.Inject(wire()...)
				p.b.Inject(wire()...)
				p.b.Expect(toB...)
				p.a.Expect(toA...)
				if res := p.good(); res.Packets != uint64(2*len(wire())) || res.RxDrops+res.TxDrops != 0 || len(res.DropsByReason) != 0 {
					t.Errorf("%+v", res)
				}
			})
		}
	}
}

// A frame without room for the addresses is dropped and counted where they are
// written, and passed on where they are not.
func TestShortFrames(t *testing.T) {
	short := [][]byte{{1}, bytes.Repeat([]byte{2}, 6), bytes.Repeat([]byte{3}, 13)}
	last := odptest.Frame{Seq: 9}.Bytes()

	p := start(t, "-d 1 -s 0")
	p.a.Inject(append(short, last)...)
	p.b.Expect(rewritten(last, 1, true, false, ""))
	if res := p.good(); res.RxDrops != 3 || res.DropsByReason["app_rx"] != 3 || res.Packets != 1 {
		t.Errorf("%+v", res)
	}
	p = start(t, "-d 0 -s 0")
	p.a.Inject(append(short, last)...)
	p.b.Expect(append(short, last)...)
	if res := p.good(); res.RxDrops != 0 || res.Packets != 4 {
		t.Errorf("%+v", res)
	}
}

// With -e 1 a frame whose headers lie is dropped and counted; by default it is forwarded.
func TestErrorFrames(t *testing.T) {
	frames := odptest.Frames(5, odptest.Frame{Len: 100})
	frames[1][14] = 0x42                      // an IPv4 header of 8 bytes
	frames[3][16], frames[3][17] = 0x7f, 0xff // longer than the frame
	good := [][]byte{frames[0], frames[2], frames[4]}
	for _, mode := range []string{"burst", "queue"} {
		p := start(t, "-d 0 -s 0 -e 1 -m "+mode)
		p.a.Inject(frames...)
		p.b.Expect(good...)
		if res := p.good(); res.RxDrops != 2 || res.Packets != 3 {
			t.Errorf("-e 1, %s: %+v", mode, res)
		}
		p = start(t, "-d 0 -s 0 -e 0 -m "+mode)
		p.a.Inject(frames...)
		p.b.Expect(frames...)
		if res := p.good(); res.RxDrops != 0 || res.Packets != 5 {
			t.Errorf("-e 0, %s: %+v", mode, res)
		}
	}
}

// One interface of two is silent: the other's frames are forwarded one by one all
// the same, by a worker that serves both, sleeping or not.
func TestSilentInterface(t *testing.T) {
	for _, args := range []string{"-m burst -idle busy", "-m burst -idle adaptive", "-m queue -idle adaptive", "-m plain -idle adaptive", "-m ordered -c 2 -idle busy"} {
		t.Run(args, func(t *testing.T) {
			p := start(t, args+" -d 0 -s 0")
			for i := range 30 {
				f := odptest.Frame{Seq: uint32(i)}.Bytes()
				p.b.Inject(f) // the second of the two
				p.a.Expect(f) // before the next is sent: nothing waits for company
			}
			if n := len(p.b.Frames()); n != 0 {
				t.Errorf("%d frames left through the wrong interface", n)
			}
			p.good()
		})
	}
}
