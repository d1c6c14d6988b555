// SPDX-License-Identifier: Apache-2.0

package pcap

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/pktio"
	"github.com/odp-go/godp/platform/internal/pcapfile"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

func frame(i, n int) []byte {
	b := bytes.Repeat([]byte{byte(i)}, n)
	copy(b, []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5})
	return b
}

// write makes a capture of frames of these lengths, gap apart.
func write(t *testing.T, name string, gap time.Duration, lens ...int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	var b bytes.Buffer
	w, err := pcapfile.NewWriter(&b, strings.HasSuffix(name, "ng"))
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range lens {
		w.Begin(1e18+int64(i)*int64(gap), n)
		w.Data(frame(i, n))
		w.End()
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, name string, cfg pktio.Config) *pktio.Port {
	t.Helper()
	set, err := worker.NewSet(2)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	p, err := pktio.Open(context.Background(), set, name, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		set.Close()
	})
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// recv receives until nothing came for a while, or an error.
func recv(p *pktio.Port, quiet time.Duration) (lens []int, err error) {
	var pkts [7]*buffer.Packet
	for last := time.Now(); time.Since(last) < quiet; {
		n, err := p.In(0).Recv(nil, pkts[:])
		for _, k := range pkts[:n] {
			lens = append(lens, k.Len())
		}
		buffer.FreePackets(nil, pkts[:n])
		if n > 0 {
			last = time.Now()
		}
		if err != nil {
			return lens, err
		}
	}
	return lens, nil
}

// What is read from one file and written to another is the same.
func TestReplayAndCapture(t *testing.T) {
	lens := []int{60, 14, 1, 1514, 9000, 61, 62, 63, 65535, 20, 21, 22}
	for _, name := range []string{"a.pcap", "a.pcapng"} {
		in := write(t, name, time.Second, lens...)
		out := filepath.Join(t.TempDir(), "out"+filepath.Ext(name))
		p := open(t, "pcap:in="+in+",out="+out, pktio.Config{})
		var pkts [32]*buffer.Packet
		n, err := p.In(0).Recv(nil, pkts[:])
		if n != len(lens) || err != nil {
			t.Fatal(n, err)
		}
		for i, k := range pkts[:n] {
			b := make([]byte, k.Len())
			k.CopyToMem(0, b)
			if !bytes.Equal(b, frame(i, lens[i])) {
				t.Errorf("packet %d differs", i)
			}
		}
		before := time.Now().UnixNano()
		if m, err := p.Out(0).Send(nil, pkts[:n]); m != n || err != nil {
			t.Fatal(m, err)
		}
		f, err := os.Open(out) // it is there before Close
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r, err := pcapfile.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range lens {
			rec, err := r.Next()
			if err != nil || !bytes.Equal(rec.Data, frame(i, n)) || rec.Time < before || rec.Time > time.Now().UnixNano() {
				t.Errorf("%s: packet %d: %d bytes, %v", name, i, len(rec.Data), err)
			}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("after the last packet: %v", err)
		}
		if more, err := recv(p, 5*time.Millisecond); len(more) != 0 || err != nil || p.Pool().Out() != 0 {
			t.Errorf("at the end: %v, %v, %d packets out", more, err, p.Pool().Out())
		}
	}
}

// Whole packets, then an error that says what and where.
func TestBrokenFile(t *testing.T) {
	for _, name := range []string{"a.pcap", "a.pcapng"} {
		in := write(t, name, 0, 60, 61, 62)
		b, _ := os.ReadFile(in)
		for what, c := range map[string][]byte{"cut short": b[:len(b)-5], "wrong": append(bytes.Clone(b), bytes.Repeat([]byte{0xff}, 40)...)} {
			os.WriteFile(in, c, 0o666)
			p := open(t, "pcap:in="+in, pktio.Config{})
			got, err := recv(p, 2*time.Second)
			want := 3
			if what == "cut short" {
				want = 2
			}
			if len(got) != want || !errors.Is(err, queue.ErrFaulted) || !strings.Contains(fmt.Sprint(err), what) || !strings.Contains(fmt.Sprint(err), "at byte") {
				t.Errorf("%s %s: %v, %v", name, what, got, err)
			}
			p.Close()
		}
	}
}

func TestLoopsRateTiming(t *testing.T) {
	in := write(t, "a.pcap", 20*time.Millisecond, 60, 61, 62)
	p := open(t, "pcap:in="+in+"?loops=3", pktio.Config{})
	if got, err := recv(p, 5*time.Millisecond); !slices.Equal(got, []int{60, 61, 62, 60, 61, 62, 60, 61, 62}) || err != nil {
		t.Errorf("three loops: %v, %v", got, err)
	}
	p.Close()
	for opts, least := range map[string]time.Duration{"timing=file": 40 * time.Millisecond, "timing=file&loops=2": 80 * time.Millisecond, "rate=100&loops=2": 50 * time.Millisecond} {
		p := open(t, "pcap:in="+in+"?"+opts, pktio.Config{})
		start := time.Now()
		want := 3
		if strings.Contains(opts, "loops") {
			want = 6
		}
		var pkts [8]*buffer.Packet
		got := 0
		for time.Since(start) < 10*time.Second && got < want {
			n, err := p.In(0).RecvWait(nil, pkts[:], time.Second)
			if err != nil {
				t.Fatal(err)
			}
			got += n
			buffer.FreePackets(nil, pkts[:n])
		}
		if d := time.Since(start); got != want || d < least {
			t.Errorf("%s: %d of %d packets after %v; they take %v at least", opts, got, want, d, least)
		}
		p.Close()
	}
	p = open(t, "pcap:in="+in+"?loops=0", pktio.Config{})
	var pkts [64]*buffer.Packet
	for range 20 {
		if n, err := p.In(0).Recv(nil, pkts[:]); n != 64 || err != nil {
			t.Fatal("an endless replay ended", n, err)
		}
		buffer.FreePackets(nil, pkts[:])
	}
}

// A capture in several files, of which the newest stay.
func TestRotation(t *testing.T) {
	out := filepath.Join(t.TempDir(), "c.pcap")
	p := open(t, "pcap:out="+out+"?rotate=1000&files=3", pktio.Config{})
	for i := range 40 {
		k := p.Pool().AllocPacket(nil, 100)
		copy(k.Data(), frame(i, 100))
		if n, err := p.Out(0).Send(nil, []*buffer.Packet{k}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if got, err := recv(p, time.Millisecond); len(got) != 0 || err != nil {
		t.Error("received something", got, err)
	}
	p.Close()
	names, _ := filepath.Glob(filepath.Join(filepath.Dir(out), "*"))
	if len(names) != 3 {
		t.Fatalf("files %v", names)
	}
	next := -1
	for _, n := range []string{"c-2.pcap", "c-3.pcap", "c-4.pcap"} {
		f, err := os.Open(filepath.Join(filepath.Dir(out), n))
		if err != nil {
			names, _ = filepath.Glob(filepath.Join(filepath.Dir(out), "*"))
			t.Fatal(err, names)
		}
		defer f.Close()
		if st, _ := f.Stat(); st.Size() > 1000 {
			t.Errorf("%s has %d bytes", n, st.Size())
		}
		r, _ := pcapfile.NewReader(f)
		for {
			rec, err := r.Next()
			if err != nil {
				break
			}
			if i := int(rec.Data[50]); next >= 0 && i != next {
				t.Errorf("%s: packet %d, want %d", n, i, next)
			}
			next = int(rec.Data[50]) + 1
		}
	}
	if next != 40 {
		t.Errorf("the last packet is %d", next-1)
	}
}

func TestErrors(t *testing.T) {
	set, _ := worker.NewSet(1)
	defer set.Close()
	in := write(t, "a.pcap", 0, 60)
	cooked := write(t, "b.pcap", 0, 60)
	b, _ := os.ReadFile(cooked)
	binary.LittleEndian.PutUint32(b[20:], 113)
	os.WriteFile(cooked, b, 0o666)
	for name, want := range map[string]string{
		"pcap:a.pcap":                           "in=FILE",
		"pcap:in=":                              "in=FILE",
		"pcap:in=a,in=b":                        "given twice",
		"pcap:in=/nowhere/a":                    "no such file",
		"pcap:in=/dev/null":                     "no regular file",
		"pcap:out=/nowhere/a":                   "no such file",
		"pcap:in=" + cooked:                     "link type 113, only Ethernet",
		"pcap:in=pcap.go":                       "neither pcap nor pcapng",
		"pcap:in=" + in + ",out=" + in:          "the same file",
		"pcap:in=" + in + "?rate=-1":            "rate",
		"pcap:in=" + in + "?rate=1x":            "whole numbers",
		"pcap:in=" + in + "?rate=99999999999":   "whole numbers",
		"pcap:in=" + in + "?timing=mine":        "fast, file",
		"pcap:in=" + in + "?timing=file&rate=5": "two ways to pace",
		"pcap:in=" + in + "?strict=1&rx=2":      "a file has 1",
	} {
		p, err := pktio.Open(context.Background(), set, name, pktio.Config{})
		if err == nil {
			p.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if b, _ := os.ReadFile(in); len(b) < 60 {
		t.Error("the input was overwritten")
	}
}

// A disk that is full is a fault with its reason.
func TestDiskFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no /dev/full")
	}
	d := &device{name: "pcap:out=/dev/full"}
	set, _ := worker.NewSet(1)
	defer set.Close()
	pool, err := buffer.NewPool(set, buffer.PoolConfig{Num: 64})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	d.pool = pool
	d.mtu.Store(maxFrameLen)
	d.tx.d, d.tx.path = d, "/dev/full"
	if err := d.tx.create(); err == nil || !strings.Contains(err.Error(), "no space") {
		t.Errorf("create: %v", err)
	}
	d.state.StoreSeq(stateRunning)
	k := pool.AllocPacket(nil, 60)
	for range 2 {
		if n, err := d.tx.Send(nil, []*buffer.Packet{k}); n != 0 || !errors.Is(err, queue.ErrFaulted) || !strings.Contains(err.Error(), "no space") {
			t.Errorf("send: %d, %v", n, err)
		}
	}
	buffer.FreePacket(nil, k)
	d.tx.closeFile()
}
