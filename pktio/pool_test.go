// SPDX-License-Identifier: Apache-2.0

package pktio_test

import (
	"strings"
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/pktio"
)

// A pool that a port can't use is refused when it is opened, with the cure, and
// nothing is left behind.
func TestOpenRefusesPools(t *testing.T) {
	set, other := newSet(t, 1), newSet(t, 1)
	make := func(cfg buffer.PoolConfig, foreign bool) *buffer.Pool {
		s := set
		if foreign {
			s = other
		}
		p, err := buffer.NewPool(s, cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close() })
		return p
	}
	gone := make(buffer.PoolConfig{Name: "gone", Num: 16}, false)
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		pool *buffer.Pool
		want string
	}{
		{make(buffer.PoolConfig{Name: "theirs", Num: 16}, true), `pool "theirs" belongs to the workers of another instance: make one with this instance's NewPool`},
		{make(buffer.PoolConfig{Name: "bufs", Num: 16, Type: buffer.TypeBuffer, Size: 64}, false), `pool "bufs" holds events of type buffer: allowed are packet pools`},
		{gone, `pool "gone" is closed`},
	} {
		p, err := pktio.Open(t.Context(), set, "loop:pools", pktio.Config{Pool: c.pool, Log: quiet})
		if err == nil {
			p.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), `device "loop:pools": open: `) {
			t.Errorf("error %v, want %q", err, c.want)
		}
		if pktio.Lookup("loop:pools") != nil {
			t.Error("a port is left")
		}
	}
	open(t, set, "loop:pools", pktio.Config{Pool: make(buffer.PoolConfig{Name: "ours", Num: 16}, false)})
}

// What a command line can set is named as on the command line too.
func TestRangesNameOptions(t *testing.T) {
	set := newSet(t, 1)
	for _, c := range []struct {
		cfg  pktio.Config
		want string
	}{
		{pktio.Config{PoolPackets: 1 << 25}, "Config.PoolPackets (option packets) is 33554432: allowed are 0 (default) to 16777216"},
		{pktio.Config{RxQueues: 65}, "Config.RxQueues (option rx) is 65"},
		{pktio.Config{MaxLen: -1}, "Config.MaxLen (option maxlen) is -1"},
	} {
		c.cfg.Log = quiet
		if _, err := pktio.Open(t.Context(), set, "loop:ranges", c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
