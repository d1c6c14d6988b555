// SPDX-License-Identifier: Apache-2.0

package schedule_test

import (
	"encoding/binary"
	"flag"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/schedule"
	"github.com/odp-go/godp/worker"
)

var syncs = []schedule.Sync{schedule.Parallel, schedule.Atomic, schedule.Ordered}

// alive is how long a model waits for something that must happen.
const alive = 20 * time.Second

// heavy reports whether the flag is set that the package's other tests define.
func heavy() bool {
	f := flag.Lookup("heavy")
	return f != nil && f.Value.String() == "true"
}

// kit is the pool that all runs of a model use.
type kit struct {
	t    *testing.T
	pool *buffer.Pool
}

func newKit(t *testing.T, events int) *kit {
	t.Helper()
	set, err := worker.NewSet(1)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := buffer.NewPool(set, buffer.PoolConfig{Name: "model", Num: events, Size: 64, Cache: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if n := pool.Available(); n != pool.Num() && !t.Failed() {
			t.Errorf("%d of %d events did not come back", pool.Num()-n, pool.Num())
		}
		if err := pool.Close(); err != nil && !t.Failed() {
			t.Error(err)
		}
		if err := set.Close(); err != nil && !t.Failed() {
			t.Error(err)
		}
	})
	return &kit{t: t, pool: pool}
}

// event makes an event that carries a number. Any goroutine.
func (k *kit) event(v uint64) *buffer.Event {
	var p [1]*buffer.Packet
	if k.pool.AllocPackets(nil, p[:], 16) != 1 {
		panic("the model's pool is empty")
	}
	binary.LittleEndian.PutUint64(p[0].Data(), v)
	return &p[0].Event
}

func (k *kit) free(ev ...*buffer.Event) { k.pool.FreePackets(nil, buffer.PacketsOf(ev)) }

func val(e *buffer.Event) uint64 { return binary.LittleEndian.Uint64(e.Packet().Data()) }
