// SPDX-License-Identifier: Apache-2.0

package relax

import (
	"runtime"
	"sync"
	"testing"

	"github.com/odp-go/godp/internal/sys"
	"github.com/odp-go/godp/internal/testkit"
)

// instance is one run of a litmus test: two words on lines of their own, and what
// each thread saw.
type instance struct {
	x  Uint32
	_  Pad
	y  Uint32
	_  Pad
	d  uint32 // plain data
	_  Pad
	r0 uint32 // written by thread 0
	_  Pad
	r1 uint32 // written by thread 1
	_  Pad
}

// litmus runs two threads over many instances at the same time, so that each
// instance is a race of the two, and returns how many ended as forbidden says. (The
// method is that of the litmus tool of Alglave and Maranget.)
func litmus(t *testing.T, init, thread0, thread1 func(*instance), forbidden func(*instance) bool) int {
	t.Helper()
	rounds := 4000
	if testing.Short() || testkit.Race {
		rounds = 400
	}
	batch := make([]instance, 32)
	var arrived [2]struct {
		n Uint32
		_ Pad
	}
	// both run off together; a CPU that both share is given up while waiting
	phase := [2]uint32{}
	meet := func(me int) {
		phase[me]++
		arrived[me].n.StoreSeq(phase[me])
		for i := 0; arrived[1-me].n.LoadAcq() < phase[me]; i++ {
			if i > 10000 {
				runtime.Gosched()
			}
		}
	}
	// with all lines in both caches a load is answered at once, while a store waits for
	// its line: the worst that can happen
	var warmed [2]uint32
	warm := func(me int) {
		for i := range batch {
			warmed[me] += batch[i].x.LoadAcq() + batch[i].y.LoadAcq()
		}
	}
	bad := 0
	var wg sync.WaitGroup
	wg.Go(func() {
		onCPU(0)
		for range rounds {
			for i := range batch {
				batch[i] = instance{}
				init(&batch[i])
			}
			meet(0)
			warm(0)
			meet(0)
			for i := range batch {
				thread0(&batch[i])
			}
			meet(0)
			for i := range batch {
				if forbidden(&batch[i]) {
					bad++
				}
			}
		}
	})
	wg.Go(func() {
		onCPU(1)
		for r := range rounds {
			meet(1)
			warm(1)
			meet(1)
			for range r % 8 { // another offset in each round
				Pause()
			}
			for i := range batch {
				thread1(&batch[i])
			}
			meet(1)
		}
	})
	wg.Wait()
	return bad
}

// onCPU puts the goroutine on a CPU of its own, where there are two and threads can be
// pinned. It stays locked, so that its thread ends with it.
func onCPU(n int) {
	runtime.LockOSThread()
	if cpus := sys.EffectiveCPUs(sys.Root()).Set.List(); len(cpus) > 1 {
		_ = sys.SetThreadAffinity(sys.CPUs(cpus[n]))
	}
}

func none(*instance) {}

func never(t *testing.T, n int, what string) {
	t.Helper()
	if n != 0 {
		t.Errorf("%d times %s", n, what)
	}
}

// Store buffering: need-wakeup flag and sleeping worker, close flag and user, grace
// and park. With store-seq on both sides one of the two sees the other.
func TestStoreBuffering(t *testing.T) {
	both := func(i *instance) bool { return i.r0 == 0 && i.r1 == 0 }
	never(t, litmus(t, none,
		func(i *instance) { i.x.StoreSeq(1); i.r0 = i.y.LoadAcq() },
		func(i *instance) { i.y.StoreSeq(1); i.r1 = i.x.LoadAcq() }, both),
		"both missed the other's StoreSeq")
	never(t, litmus(t, none,
		func(i *instance) { i.x.Add(1); i.r0 = i.y.LoadAcq() },
		func(i *instance) { i.y.CAS(0, 1); i.r1 = i.x.LoadAcq() }, both),
		"both missed the other's read-modify-write")
	// what goes wrong with the wrong store: allowed to happen, so that it is only told
	n := litmus(t, none,
		func(i *instance) { i.x.StoreRel(1); i.r0 = i.y.LoadAcq() },
		func(i *instance) { i.y.StoreRel(1); i.r1 = i.x.LoadAcq() }, both)
	t.Logf("with StoreRel both missed each other %d times", n)
}

// Message passing: ring slots and the index that publishes them.
func TestMessagePassing(t *testing.T) {
	never(t, litmus(t, none,
		func(i *instance) { i.d = 42; i.x.StoreRel(1) },
		func(i *instance) {
			i.r1 = 42
			if i.x.LoadAcq() == 1 {
				i.r1 = i.d
			}
		},
		func(i *instance) bool { return i.r1 != 42 }),
		"the index was seen without the slot")
	never(t, litmus(t, none,
		func(i *instance) { i.y.StoreRel(1); i.x.StoreRel(1) },
		func(i *instance) { i.r1 = i.x.LoadAcq(); i.r0 = i.y.LoadAcq() },
		func(i *instance) bool { return i.r1 == 1 && i.r0 == 0 }),
		"two stores were seen in the wrong order")
}

// Load buffering: a slot is read before the index that gives it back is stored.
func TestLoadBuffering(t *testing.T) {
	never(t, litmus(t, none,
		func(i *instance) { i.r0 = i.x.LoadAcq(); i.y.StoreRel(1) },
		func(i *instance) { i.r1 = i.y.LoadAcq(); i.x.StoreRel(1) },
		func(i *instance) bool { return i.r0 == 1 && i.r1 == 1 }),
		"each load saw the store that came after the other")
}

// Empty queue to token: the producer pushes the token only when nothing was pending,
// the consumer keeps it only when something is left. Exactly one of them has it.
func TestPendingToken(t *testing.T) {
	never(t, litmus(t,
		func(i *instance) { i.x.StoreSeq(1) }, // one event, the consumer holds the token
		func(i *instance) {
			if i.x.Add(1) == 1 {
				i.r0 = 1 // producer pushes a token
			}
		},
		func(i *instance) {
			if i.x.Add(^uint32(0)) != 0 {
				i.r1 = 1 // consumer gives the token back
			}
		},
		func(i *instance) bool { return i.r0+i.r1 != 1 }),
		"there were none or two tokens for the event that is left")
}

// Staging ring to lock: who finds the lock taken stages the burst and tries again;
// the holder unlocks and looks at the staging ring again. The burst is found.
func TestStagedBurstIsNotLeftBehind(t *testing.T) {
	never(t, litmus(t,
		func(i *instance) { i.y.StoreSeq(1) }, // locked by thread 1
		func(i *instance) { // sender
			i.x.StoreSeq(1)
			if i.y.CAS(0, 1) {
				i.r0 = 1 // has the lock: sends it itself
			}
		},
		func(i *instance) { // holder
			i.y.StoreSeq(0)
			i.r1 = i.x.LoadAcq() // sees it: locks again and sends it
		},
		func(i *instance) bool { return i.r0 == 0 && i.r1 == 0 }),
		"a staged burst stayed behind")
}

// Stop and flush requests: bits set by others and taken by the owner.
func TestRequestBits(t *testing.T) {
	never(t, litmus(t, none,
		func(i *instance) { i.y.StoreSeq(1); i.x.Or(1) },
		func(i *instance) {
			i.r1 = 1
			if i.x.And(^uint32(1)) == 1 {
				i.r1 = i.y.LoadAcq()
			}
		},
		func(i *instance) bool { return i.r1 == 0 || i.x.LoadAcq() > 1 }),
		"a request was served without what it was about")
}
