// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"testing"

	"github.com/odp-go/godp/internal/testkit"
)

// What a worker calls once a burst costs nothing of its own.
func TestHotPath(t *testing.T) {
	testkit.CompileFacts(t, ".").Inlined(t, "(*Instance).Schedule")
}

func TestScheduleAllocatesNothing(t *testing.T) {
	in := open(t, Config{Workers: 1})
	q, err := in.NewSchedQueue(SchedQueueConfig{Sync: Ordered})
	if err != nil {
		t.Fatal(err)
	}
	pool, err := in.NewPool(PoolConfig{Num: 64})
	if err != nil {
		t.Fatal(err)
	}
	err = in.Run(t.Context(), func(w *Worker) error {
		var pk [32]*Packet
		var ev [32]*Event
		testkit.NoAllocs(t, "a burst through a queue", 1000, func() {
			n := pool.AllocPackets(w, pk[:], 60)
			if m, err := q.Enqueue(w, EventsOf(pk[:n])); err != nil || m != n {
				t.Errorf("%d of %d enqueued, %v", m, n, err)
			}
			n, _, err := in.Schedule(w, ev[:], 0)
			if err != nil || n != len(ev) || !w.Running() {
				t.Errorf("%d events, %v", n, err)
			}
			FreePackets(w, PacketsOf(ev[:n]))
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
