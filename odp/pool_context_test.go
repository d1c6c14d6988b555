// SPDX-License-Identifier: Apache-2.0

package odp_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"

	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/odptest"
	"github.com/odp-go/godp/pktio"

	_ "github.com/odp-go/godp/platform/loop"
)

// A context that has ended ends the making of a pool, of the program's and of a
// device's; nothing is left behind, and the same works afterwards.
func TestPoolContext(t *testing.T) {
	in := odptest.New(t, odp.Config{Workers: 1})
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, ctx := range []context.Context{over, t.Context()} {
		p, err := in.NewPoolContext(ctx, odp.PoolConfig{Num: 1000})
		if ctx == over {
			if p != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("a context that has ended: %v, %v", p, err)
			}
			if len(in.Snapshot().Pools) != 0 {
				t.Error("a pool is left")
			}
			continue
		}
		if err != nil || len(in.Snapshot().Pools) != 1 {
			t.Errorf("%v, %d pools", err, len(in.Snapshot().Pools))
		}
	}
	//lint:ignore SA1012 a mistake that must not panic
	if _, err := in.NewPoolContext(nil, odp.PoolConfig{Num: 1}); err == nil {
		t.Error("no context: no error")
	}
	if _, err := in.OpenPort(over, "loop:ctx", odp.PortConfig{Config: pktio.Config{PoolPackets: 1000, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}}); !errors.Is(err, context.Canceled) {
		t.Errorf("OpenPort: %v", err)
	}
}
