// SPDX-License-Identifier: Apache-2.0

package odptest

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/odp-go/godp/internal/testkit"
	"github.com/odp-go/godp/odp"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// recorder is a testing.TB that keeps what a helper says instead of failing.
type recorder struct {
	testing.TB
	failed string
}

func (r *recorder) Helper() {}
func (r *recorder) Fatalf(format string, args ...any) {
	r.failed = fmt.Sprintf(format, args...)
	panic(r)
}
func (r *recorder) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }

// failure returns how f fails the test it is given.
func failure(t *testing.T, f func(testing.TB)) (msg string) {
	t.Helper()
	r := &recorder{TB: t}
	defer func() {
		if v := recover(); v != nil && v != any(r) {
			panic(v)
		}
		msg = r.failed
	}()
	f(r)
	return ""
}

func drawFrame(t *rapid.T) Frame {
	f := Frame{
		Flow: rapid.IntRange(0, 60000).Draw(t, "flow"),
		Seq:  rapid.Uint32().Draw(t, "seq"),
		TTL:  rapid.Uint8Range(1, 255).Draw(t, "ttl"),
		Len:  rapid.IntRange(0, 2000).Draw(t, "len"),
		VLAN: rapid.SliceOfN(rapid.Uint16(), 0, 2).Draw(t, "vlan"),
	}
	if rapid.Bool().Draw(t, "v6") {
		f.DstIP = netip.MustParseAddr("fd01::2")
	}
	return f
}

// A frame that is built reads back as it was described, and any flipped bit behind
// the MAC addresses and tags is seen, or is in a field that Frame shows.
func TestFrameRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFrame(t)
		b := f.Bytes()
		got, err := ParseFrame(b)
		if err != nil {
			t.Fatalf("%v\n%x", err, b)
		}
		want := f.fill()
		if len(want.VLAN) == 0 {
			want.VLAN = nil
		}
		if d := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); d != "" {
			t.Fatal(d)
		}
		if got.String() != f.String() || Describe(b) != f.String() {
			t.Fatalf("%s\n%s", got, f)
		}
		at := rapid.IntRange(f.udpAt()-f.ipLen(), len(b)-1).Draw(t, "at")
		b[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if g, err := ParseFrame(b); err == nil && g.String() == f.String() {
			ip := f.udpAt() - f.ipLen()
			if f.DstIP.Is6() && at < ip+4 { // traffic class and flow label: nothing covers them
				return
			}
			t.Fatalf("a flipped bit in byte %d is not seen", at)
		}
	})
}

func TestDescribe(t *testing.T) {
	for _, c := range []struct {
		b    []byte
		want string
	}{
		{Frame{VLAN: []uint16{5}, Flow: 1, Seq: 7}.Bytes(),
			"02:00:00:00:00:01 > 02:00:00:00:00:02 vlan 5 10.0.0.1:1025 > 10.1.0.1:9 ttl 64 flow 1 seq 7 len 60"},
		{[]byte{1, 2}, "frame of 2 bytes: shorter than an Ethernet header"},
		{make([]byte, 60), "frame of 60 bytes: EtherType 0x0000 is not a plain IPv4 or IPv6 packet"},
	} {
		if got := Describe(c.b); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}

func TestPcapRoundTrip(t *testing.T) {
	frames := Frames(20, Frame{Len: 100})
	got, err := DecodePcap(EncodePcap(frames))
	if err != nil {
		t.Fatal(err)
	}
	Equal(t, got, frames)
	b := EncodePcap(frames)
	for n := range b { // cut anywhere: an error or fewer frames, never a crash
		got, err := DecodePcap(b[:n])
		if err == nil && len(got) == len(frames) {
			t.Fatalf("a file cut at %d of %d bytes reads as whole", n, len(b))
		}
	}
	for name, b := range map[string][]byte{
		"no pcap":  bytes.Repeat([]byte{1}, 100),
		"link":     func() []byte { b := EncodePcap(nil); b[20] = 101; return b }(),
		"snapped":  func() []byte { b := EncodePcap(frames); b[24+12]++; return b }(),
		"too long": func() []byte { b := EncodePcap(frames[:1]); b[24+8], b[24+12] = 255, 255; return b }(),
	} {
		if _, err := DecodePcap(b); !errors.Is(err, ErrPcap) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzBytes gives any bytes to the readers of frames and capture files.
func FuzzBytes(f *testing.F) {
	f.Add(Frame{}.Bytes())
	f.Add(Frame{VLAN: []uint16{1, 2}, DstIP: netip.MustParseAddr("::1")}.Bytes())
	f.Add(EncodePcap(Frames(3, Frame{})))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := ParseFrame(b); err != nil && !errors.Is(err, ErrFrame) {
			t.Fatal(err)
		}
		Describe(b)
		frames, err := DecodePcap(b)
		if err == nil && len(b) > 0 {
			if again, err := DecodePcap(EncodePcap(frames)); err != nil || len(again) != len(frames) {
				t.Fatalf("%d frames, %d again, %v", len(frames), len(again), err)
			}
		}
	})
}

func TestGolden(t *testing.T) {
	frames := Frames(3, Frame{VLAN: []uint16{7}})
	Golden(t, "three", frames)
	if *update {
		return
	}
	if msg := failure(t, func(tb testing.TB) { Golden(tb, "three", frames[:2]) }); !strings.Contains(msg, "2 frames, want 3") {
		t.Error(msg)
	}
	if msg := failure(t, func(tb testing.TB) { Golden(tb, "none", frames) }); !strings.Contains(msg, "-odptest.update") {
		t.Error(msg)
	}
	t.Chdir(t.TempDir())
	*update = true
	defer func() { *update = false }()
	Golden(t, "new", frames)
	*update = false
	Golden(t, "new", frames)
	if _, err := os.Stat("testdata/new.pcap"); err != nil {
		t.Error(err)
	}
}

func TestEqualSays(t *testing.T) {
	a, b := Frame{Seq: 1}.Bytes(), Frame{Seq: 2}.Bytes()
	if msg := failure(t, func(tb testing.TB) { Equal(tb, [][]byte{a, a}, [][]byte{a, b}) }); !strings.Contains(msg, "frame 1 differs") || !strings.Contains(msg, "seq 2") {
		t.Error(msg)
	}
	if msg := failure(t, func(tb testing.TB) { Equal(tb, [][]byte{a}, [][]byte{a, b}) }); !strings.Contains(msg, "1 frames, want 2") {
		t.Error(msg)
	}
}

// The same seed makes the same faults; each fault does what it says.
func TestFaults(t *testing.T) {
	frames := Frames(1000, Frame{})
	same := func(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }
	apply := func(f Faults) [][]byte {
		d := &Device{}
		d.SetFaults(f)
		return d.faults.apply(frames)
	}
	all := Faults{Seed: 3, Drop: 0.1, Dup: 0.1, Reorder: 0.1, Damage: 0.1}
	if !same(apply(all), apply(all)) {
		t.Error("the same seed gives other faults")
	}
	other := all
	other.Seed++
	if same(apply(all), apply(other)) {
		t.Error("another seed gives the same faults")
	}
	if n := len(apply(Faults{Drop: 0.5})); n < 300 || n > 700 {
		t.Errorf("%d of 1000 frames with half of them dropped", n)
	}
	if n := len(apply(Faults{Dup: 1})); n != 2000 {
		t.Errorf("%d frames with all doubled", n)
	}
	for i, b := range apply(Faults{Damage: 1}) {
		if bytes.Equal(b, frames[i]) {
			t.Errorf("damaged frame %d is whole", i)
		}
	}
	inOrder := apply(Faults{Reorder: 0.5})
	if len(inOrder) != 1000 || same(inOrder, frames) {
		t.Error("frames in order, or lost, with Reorder")
	}
	if !same(apply(Faults{}), frames) {
		t.Error("faults without a fault")
	}
	if !same(Shuffle(1, frames), Shuffle(1, frames)) || same(Shuffle(1, frames), frames) {
		t.Error("Shuffle")
	}
}

// echo sends back what it receives, one loop iteration.
func echo(p *odp.Port) func(w *odp.Worker) (bool, error) {
	return func(w *odp.Worker) (bool, error) {
		var pk [8]*odp.Packet
		n, err := p.In(0).Recv(w, pk[:])
		for k := 0; k < n && err == nil; {
			var m int
			m, err = p.Out(0).Send(w, pk[k:n])
			k += m
			if m == 0 {
				odp.FreePackets(w, pk[k:n])
				break
			}
		}
		return w.Running(), err
	}
}

func open(t *testing.T, in *odp.Instance, d *Device, cfg odp.PortConfig) *odp.Port {
	t.Helper()
	p, err := in.OpenPort(t.Context(), d.Name(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func loop(step func(w *odp.Worker) (bool, error)) func(w *odp.Worker) error {
	return func(w *odp.Worker) error {
		for w.Running() {
			if more, err := step(w); !more || err != nil {
				return err
			}
		}
		return nil
	}
}

func TestDevice(t *testing.T) {
	in := New(t, odp.Config{Workers: 1})
	d := NewDevice(t, DeviceConfig{Slots: 4, MTU: 200})
	d.Inject(Frames(6, Frame{})...) // before it is open: a ring of 4
	d.Inject(Frame{Len: 201}.Bytes())
	p := open(t, in, d, odp.PortConfig{})
	stop := Start(t, in, loop(echo(p)))
	d.Expect(Frames(4, Frame{})...)
	d.SetLink(false)
	if p.Link().Up {
		t.Error("the link is up")
	}
	d.Inject(Frame{}.Bytes())
	d.SetLink(true)
	d.SetRoom(1)
	d.Inject(Frames(2, Frame{Seq: 10})...)
	d.Expect(Frame{Seq: 10}.Bytes())
	Await(t, "end of input", func() bool { return d.Pending() == 0 })
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	d.SetRoom(-1)
	drops := p.Stats().Drops()
	if drops["rx_ring_full"]+drops["rx_too_long"] != 3 || drops["rx_link_down"] != 1 {
		t.Errorf("drops %v", drops)
	}
	d.InjectQueue(0, Frame{Seq: 1}.Bytes())
	if d.Pending() != 1 || len(d.Frames()) != 0 || len(d.Collected()) != 0 {
		t.Error("frames without a program that runs")
	}
}

func TestDeviceFails(t *testing.T) {
	in := New(t, odp.Config{Workers: 1})
	d := NewDevice(t, DeviceConfig{})
	p := open(t, in, d, odp.PortConfig{})
	d.SetFaults(Faults{FailRecv: 3})
	if err := in.Run(t.Context(), loop(echo(p))); !errors.Is(err, odp.ErrFaulted) || !strings.Contains(err.Error(), "call 3") {
		t.Errorf("Run: %v", err)
	}
	d.SetFaults(Faults{FailSend: 1})
	d.Inject(Frame{}.Bytes())
	err := in.Run(t.Context(), func(w *odp.Worker) error {
		var pk [1]*odp.Packet
		for w.Running() {
			n, err := p.In(0).Recv(w, pk[:])
			if n == 0 || err != nil {
				continue
			}
			_, err = p.Out(0).Send(w, pk[:])
			odp.FreePackets(w, pk[:]) // not accepted: still ours
			return err
		}
		return nil
	})
	if !errors.Is(err, odp.ErrFaulted) {
		t.Errorf("Run: %v", err)
	}
	if msg := failure(t, func(tb testing.TB) { NewDevice(tb, DeviceConfig{Name: d.name}) }); !strings.Contains(msg, "exists already") {
		t.Error(msg)
	}
}

// A long frame comes in several segments and leaves as it came.
func TestLongFrames(t *testing.T) {
	in := New(t, odp.Config{Workers: 2})
	d := NewDevice(t, DeviceConfig{})
	p := open(t, in, d, odp.PortConfig{Mode: odp.ModeScheduled, Sync: odp.Atomic})
	Start(t, in, func(w *odp.Worker) error {
		var ev [4]*odp.Event
		for w.Running() {
			n, _, err := in.Schedule(w, ev[:], 5*time.Millisecond)
			if err != nil {
				return err
			}
			if m, err := p.Out(0).Enqueue(w, ev[:n]); err != nil || m < n {
				return fmt.Errorf("%d of %d sent: %w", m, n, err)
			}
		}
		return nil
	})
	var frames [][]byte
	for _, n := range []int{60, 1856, 1857, 9000, 65535, 64} {
		frames = append(frames, Frame{Len: n}.Bytes()[:n])
	}
	d.Inject(frames...)
	d.Expect(frames...)
}

// The same seed gives the same interleaving, another seed another one, and every
// worker has its turns.
func TestInterleave(t *testing.T) {
	run := func(seed uint64) (order []int, frames [][]byte) {
		in := New(t, odp.Config{Workers: 3})
		d := NewDevice(t, DeviceConfig{})
		p := open(t, in, d, odp.PortConfig{})
		d.Inject(Frames(100, Frame{})...)
		order, err := Interleave(t, in, Steps{Seed: seed, Max: 60}, echo(p))
		if err != nil {
			t.Fatal(err)
		}
		return order, d.Frames()
	}
	a, fa := run(1)
	b, fb := run(1)
	c, _ := run(2)
	if !slices.Equal(a, b) || slices.Equal(a, c) || len(a) != 60 {
		t.Errorf("orders\n%v\n%v\n%v", a, b, c)
	}
	Equal(t, fa, fb)
	for i := range 3 {
		if !slices.Contains(a, i) {
			t.Errorf("worker %d had no turn", i)
		}
	}
}

// Steps that wait for each other don't hang, ends and errors come through.
func TestInterleaveEnds(t *testing.T) {
	in := New(t, odp.Config{Workers: 3})
	b := odp.NewBarrier(3)
	order, err := Interleave(t, in, Steps{Patience: 5 * time.Millisecond}, func(w *odp.Worker) (bool, error) { return false, b.Wait(w) })
	if err != nil || len(order) != 3 {
		t.Errorf("%v %v", order, err)
	}
	cause := errors.New("cause")
	n := 0
	_, err = Interleave(t, in, Steps{}, func(w *odp.Worker) (bool, error) {
		if n++; n == 10 {
			return true, cause
		}
		return true, nil
	})
	if !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
	_, err = Interleave(t, in, Steps{}, func(w *odp.Worker) (bool, error) { panic("in a step") })
	if err == nil || !strings.Contains(err.Error(), "in a step") {
		t.Errorf("%v", err)
	}
}
