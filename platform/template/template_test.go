// SPDX-License-Identifier: Apache-2.0

package template_test

import (
	"bytes"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/testkit"
	"github.com/odp-go/godp/pktio"
	"github.com/odp-go/godp/platform/template"
	"github.com/odp-go/godp/worker"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func open(t *testing.T, name string, cfg pktio.Config) *pktio.Port {
	t.Helper()
	set, err := worker.NewSet(2)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	p, err := pktio.Open(t.Context(), set, "template:"+name, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if err := set.Close(); err != nil {
			t.Error(err)
		}
		template.Forget(name)
	})
	return p
}

// Frames come in turn, short and long, up to the limit, and what is sent is kept.
func TestFeed(t *testing.T) {
	for name, frames := range map[string][][]byte{
		"short": {bytes.Repeat([]byte{1}, 60), bytes.Repeat([]byte{2}, 62), bytes.Repeat([]byte{3}, 64), bytes.Repeat([]byte{4}, 14)},
		"long":  {bytes.Repeat([]byte{1}, 1500), bytes.Repeat([]byte{2}, 60), bytes.Repeat([]byte{3}, 65)},
	} {
		const limit, keep = 100, 30
		if err := template.Set(name, template.Feed{Frames: frames, Limit: limit, Keep: keep}); err != nil {
			t.Fatal(err)
		}
		p := open(t, name, pktio.Config{})
		var b [32]*buffer.Packet
		if n, _ := p.In(0).Recv(nil, b[:]); n != 0 {
			t.Errorf("%d frames before Start", n)
		}
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		total := 0
		for {
			n, err := p.In(0).Recv(nil, b[:])
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				break
			}
			for i, k := range b[:n] {
				if want := frames[(total+i)%len(frames)]; !bytes.Equal(k.Data(), want) {
					t.Fatalf("%s: frame %d is %d bytes %x, want %d bytes", name, total+i, k.Len(), k.Data()[:4], len(want))
				}
			}
			total += n
			if sent, err := p.Out(0).Send(nil, b[:n]); sent != n || err != nil {
				t.Fatal(sent, err)
			}
		}
		if total != limit || p.Stats().Device["swallowed"] != limit || p.Pool().Out() != 0 {
			t.Errorf("%s: %d frames received, %d swallowed, %d out", name, total, p.Stats().Device["swallowed"], p.Pool().Out())
		}
		got := template.Sent(name)
		if len(got) != keep {
			t.Errorf("%d frames kept", len(got))
		}
		for i, f := range got {
			if !bytes.Equal(f, frames[i%len(frames)]) {
				t.Fatalf("frame %d was not kept as it was sent", i)
			}
		}
	}
}

func TestDefaultFeedHasNoEnd(t *testing.T) {
	p := open(t, "nothing-set", pktio.Config{RxQueues: 2, TxQueues: 2})
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	var b [32]*buffer.Packet
	for i := range 1000 {
		n, err := p.In(i%2).Recv(nil, b[:])
		if n != len(b) || err != nil || b[0].Len() != 60 || b[0].HasError() || !b[0].Has(buffer.FlagIPv4) {
			t.Fatal(n, err)
		}
		if _, err := p.Out(i%2).Send(nil, b[:]); err != nil {
			t.Fatal(err)
		}
	}
	if template.Sent("nothing-set") != nil {
		t.Error("frames were kept")
	}
}

func TestWrongUse(t *testing.T) {
	for _, f := range []template.Feed{{}, {Frames: [][]byte{make([]byte, 13)}}, {Frames: [][]byte{make([]byte, 2049)}}, {Frames: [][]byte{make([]byte, 60)}, Limit: -1}} {
		if err := template.Set("wrong", f); err == nil || !strings.Contains(err.Error(), "template:wrong") {
			t.Errorf("%d frames: %v", len(f.Frames), err)
		}
	}
}
