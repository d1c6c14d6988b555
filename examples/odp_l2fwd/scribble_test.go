// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/odp-go/godp/examples/internal/opt"
	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/internal/testkit"
	"github.com/odp-go/godp/platform/netmap"
	"github.com/odp-go/godp/platform/netmap/abi"
	"github.com/odp-go/godp/platform/netmap/nmsim"
	"github.com/odp-go/godp/queue"
)

var scribbleTime = flag.Duration("scribble", 0, "how long each mode is scribbled on (default 1.5 s, 200 ms with -short)")

// scribbler is another process that has the region of the simulated ports mapped, and
// writes into rings, slots, tables and buffers what it likes, at any time.
type scribbler struct {
	k     abi.Kernel
	fd    int
	call  *abi.Call
	m     abi.Mapping
	pools abi.PoolsInfo
	rnd   *rand.Rand
	stop  chan struct{}
	done  chan struct{}
	wrote int
}

// newScribbler maps the region of a port that is open.
func newScribbler(t *testing.T, port string, seed uint64) *scribbler {
	t.Helper()
	s := &scribbler{k: nmsim.Default().Kernel(), rnd: rand.New(rand.NewPCG(seed, 9)), stop: make(chan struct{}), done: make(chan struct{})}
	fail := func(what string, err error) {
		if err != nil {
			t.Fatalf("the scribbler: %s: %v", what, err)
		}
	}
	var err error
	s.call, err = abi.NewCall()
	fail("call", err)
	fd, errno := s.k.Open()
	if errno != 0 {
		fail("open", errno)
	}
	s.fd = fd
	_, body, err := s.call.Begin(abi.ReqPoolsInfoGet, port)
	fail("pools", err)
	if errno := s.k.Ioctl(s.fd, s.k.Numbers().Ctrl, s.call.Arg()); errno != 0 {
		fail("pools", errno)
	}
	s.pools = *(*abi.PoolsInfo)(body)
	_, r, err := s.call.Register("scribbler")
	fail("register", err)
	r.Mode, r.MemID = abi.ModeNull, s.pools.MemID
	if errno := s.k.Ioctl(s.fd, s.k.Numbers().Ctrl, s.call.Arg()); errno != 0 {
		fail("register", errno)
	}
	if s.m, errno = s.k.Map(s.fd, r.MemSize); errno != 0 {
		fail("map", errno)
	}
	return s
}

func (s *scribbler) close() {
	s.m.Unmap()
	s.k.Close(s.fd)
	s.call.Close()
}

// word is a random word, often one near a limit.
func (s *scribbler) word() uint32 {
	limits := []uint32{0, 1, 2, 64, 2048, s.pools.BufObjTotal, 1 << 16, 1 << 31}
	switch s.rnd.IntN(4) {
	case 0:
		return s.rnd.Uint32()
	case 1:
		return limits[s.rnd.IntN(len(limits))] + uint32(s.rnd.IntN(3)) - 1
	case 2:
		return s.rnd.Uint32N(s.pools.BufObjTotal + 2)
	}
	return s.rnd.Uint32N(70)
}

func (s *scribbler) put(off uint64, v uint32) {
	(*relax.Uint32)(arena.At(s.m.Off() + off)).StoreRel(v)
	s.wrote++
}

// run writes until it is stopped. How: 0 slots only, so that the ports live long, 1 the
// words of the rings too, 2 everything, tables and buffers as well.
func (s *scribbler) run(how int, pause time.Duration) {
	defer close(s.done)
	const rings, ringBytes = 8, abi.RingSize + 64*abi.SlotSize
	for {
		select {
		case <-s.stop:
			return
		default:
		}
		ring := s.pools.RingOffset + uint64(s.rnd.IntN(rings))*uint64(s.pools.RingObjSize)
		switch kind := s.rnd.IntN(20); {
		case how == 0 || kind < 12:
			slot := ring + abi.RingSize + abi.SlotSize*uint64(s.rnd.IntN(64))
			s.put(slot+4*uint64(s.rnd.IntN(4)), s.word())
		case how == 1 || kind < 16:
			s.put(ring+4*uint64(s.rnd.IntN(18)), s.word())
		case kind < 18:
			s.put(s.pools.IfOffset+uint64(s.rnd.IntN(8))*uint64(s.pools.IfObjSize)+20+4*uint64(s.rnd.IntN(20)), s.word())
		case !testkit.Race: // the bytes of frames are nobody's words
			buf := uint64(abi.FirstBuf + s.rnd.Uint32N(s.pools.BufObjTotal-abi.FirstBuf))
			s.put(s.pools.BufOffset+buf*uint64(s.pools.BufObjSize)+4*uint64(s.rnd.IntN(16)), s.word())
		}
		time.Sleep(pause)
	}
}

func (s *scribbler) end() { close(s.stop); <-s.done }

// canary is memory next to the region: nobody writes it.
type canary struct{ mem []*arena.Range }

func newCanary(t *testing.T) *canary {
	c := &canary{}
	for range 4 {
		m, err := arena.New(arena.Config{Name: "canary", Size: 1 << 16})
		if err != nil {
			t.Fatal(err)
		}
		for i := range arena.Bytes(m.Off, int(m.Size)) {
			arena.Bytes(m.Off, int(m.Size))[i] = 0xa5
		}
		c.mem = append(c.mem, m)
	}
	return c
}

func (c *canary) check(t *testing.T) {
	t.Helper()
	for _, m := range c.mem {
		for i, b := range arena.Bytes(m.Off, int(m.Size)) {
			if b != 0xa5 {
				t.Fatalf("byte %d of memory outside of the region was written: %#x", i, b)
			}
		}
		m.Close()
	}
}

// TestScribble forwards in every mode and under every lock while another process writes
// into the rings at random. Ports may fault, frames may be lost, changed or doubled: two
// slots that name one buffer can't be told from good ones. What holds:
//
//   - nobody crashes or hangs, and memory outside of the region is not touched (each region
//     ends at a guard page; other ranges hold their pattern);
//   - a port that can't go on says so with a fault: in burst modes the run ends with that
//     error, in queue modes the input is not polled any more;
//   - every packet header comes back to its pool, and the counters of the ports balance:
//     received = sent + dropped by the program + freed at the end;
//   - afterwards the same ports, opened again, forward everything.
func TestScribble(t *testing.T) {
	each := *scribbleTime
	if each == 0 {
		if each = 1500 * time.Millisecond; testing.Short() {
			each = 200 * time.Millisecond
		}
	}
	for mode := opt.Burst; mode <= opt.Plain; mode++ {
		t.Run(mode.String(), func(t *testing.T) {
			can := newCanary(t)
			runs, faults, packets, wrote := 0, 0, uint64(0), 0
			for end := time.Now().Add(each); time.Now().Before(end) || runs < 3; runs++ {
				lock := []string{"pktio", "device", "queue", "none"}[runs%4]
				c := combination{mode, lock, 1 + runs/4%2, "queues", runs%3 != 2}
				if !c.legal() {
					c.workers = 1
				}
				p, n, failed := scribbled(t, c, uint64(runs), runs/2%3)
				packets, wrote = packets+p, wrote+n
				if failed {
					faults++
				}
			}
			c := combination{mode, "queue", 1, "queues", true}
			res, err := forward(context.Background(), c.options(4000, "&window=400"), io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			c.check(t, res, 4000, true)
			can.check(t)
			t.Logf("%d runs, %d words written, %d packets forwarded, %d runs with a port that faulted", runs, wrote, packets, faults)
			if packets == 0 || wrote == 0 {
				t.Error("nothing was tried")
			}
		})
	}
}

// scribbled is one run of about 40 ms.
func scribbled(t *testing.T, c combination, seed uint64, how int) (packets uint64, wrote int, failed bool) {
	o := c.options(1<<30, "&rx-slots=64&tx-slots=64")
	o.drain = 20 * time.Millisecond
	var r *run
	var s *scribbler
	begin, stopped := time.Time{}, false
	o.started = func(x *run) {
		r, begin = x, time.Now()
		s = newScribbler(t, "m0", seed)
		go s.run(how, []time.Duration{0, 20 * time.Microsecond, 200 * time.Microsecond}[seed%3])
	}
	o.until = func() bool { // each 5 ms
		if time.Since(begin) < 40*time.Millisecond {
			return false
		}
		if testkit.Race && !stopped { // what is written without atomics when a port closes
			stopped = true
			s.end()
		}
		return true
	}
	res, err := forward(context.Background(), o, io.Discard)
	if s == nil {
		t.Fatalf("%v: %v", c, err)
	}
	if !stopped {
		s.end()
	}
	s.close()
	var fault *netmap.Fault
	// a ring whose indices were scribbled on may look as if frames were queued for ever: Drain gives up in time
	if err != nil && !errors.Is(err, queue.ErrFaulted) && !errors.As(err, &fault) && !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%v: %v is no fault", c, err)
	}
	if res.PoolLeaked != 0 {
		t.Fatalf("%v: %d packets did not come back", c, res.PoolLeaked)
	}
	in, out := uint64(0), uint64(0)
	for _, hs := range r.ports {
		for _, p := range hs {
			st := p.Stats()
			in, out = in+st.RxPackets(), out+st.TxPackets()
			failed = failed || st.Device["faults"] > 0
		}
	}
	if rest := res.TxDrops + res.RxDrops + r.inst.Snapshot().FreedAtEnd; in != out+rest {
		t.Fatalf("%v: %d packets came in, %d left, %d were dropped (%v), %v", c, in, out, rest, res.DropsByReason, err)
	}
	return in, s.wrote, failed || err != nil
}
