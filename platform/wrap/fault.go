// SPDX-License-Identifier: Apache-2.0

package wrap

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/worker"
)

// chances are shares of 2^32.
type chances struct {
	loss, dup, corrupt, reorder uint64
	delay, jitter               time.Duration
}

const (
	maxHeld    = 1024             // packets that are held back
	reorderFor = time.Millisecond // a packet that waits for others does not wait longer
)

func openFault(d *device, a *args, _ driver.Config) error {
	part := func(key string) uint64 { return uint64(a.share(key) * (1 << 32)) }
	c := chances{loss: part("loss"), dup: part("dup"), corrupt: part("corrupt"), reorder: part("reorder"), delay: a.duration("delay"), jitter: a.duration("jitter")}
	seed := a.number("seed", 1)
	rx, tx := a.direction("rx")
	if tx && !rx && (c.reorder > 0 || c.delay > 0 || c.jitter > 0) {
		return errors.New("dir=tx with reorder, delay or jitter: packets that were sent can't wait here; give them with dir=rx or both")
	}
	var rxs []*faultRx
	var txs []*faultTx
	for i := range d.rx {
		if rx {
			q := &faultRx{in: d.rx[i], fate: newFate(c, seed, uint64(i)), held: make([]held, 0, maxHeld), out: make([]*buffer.Packet, 0, 2*maxHeld)}
			rxs = append(rxs, q)
			d.rx[i] = q
		}
	}
	for i := range d.tx {
		if tx {
			q := &faultTx{in: d.tx[i], fate: newFate(c, seed, 1<<32+uint64(i))}
			txs = append(txs, q)
			d.tx[i] = q
		}
	}
	d.counters = func(m map[string]uint64) {
		sum := func(dir string, f *fate) {
			m[dir+"_fault_lost"] += f.lost.LoadAcq()
			m[dir+"_fault_doubled"] += f.doubled.LoadAcq()
			m[dir+"_fault_corrupted"] += f.corrupted.LoadAcq()
			m[dir+"_fault_reordered"] += f.reordered.LoadAcq()
		}
		for _, q := range rxs {
			sum("rx", &q.fate)
		}
		for _, q := range txs {
			sum("tx", &q.fate)
		}
	}
	d.release = func() error {
		for _, q := range rxs {
			q.free()
		}
		return nil
	}
	return nil
}

// fate decides what happens to packets, and counts it. The owner of the queue uses it.
type fate struct {
	c chances
	r *rand.PCG

	lost, doubled, corrupted, reordered relax.Uint64
}

func newFate(c chances, seed, stream uint64) fate { return fate{c: c, r: rand.NewPCG(seed, stream)} }

func (f *fate) hits(share uint64) bool { return share > 0 && f.r.Uint64()>>32 < share }

func add(c *relax.Uint64, n uint64) { c.StoreRel(c.LoadAcq() + n) }

// damage flips one bit of a packet.
func (f *fate) damage(k *buffer.Packet) {
	b := k.Data()
	v := f.r.Uint64()
	b[int(v>>8)%len(b)] ^= 1 << (v & 7)
	add(&f.corrupted, 1)
}

// held is a packet that waits.
type held struct {
	k     *buffer.Packet
	due   int64 // since base, nanoseconds
	after int   // packets that pass it first
}

var base = time.Now()

func now() int64 { return int64(time.Since(base)) }

// faultRx receives with faults.
//
//	inner ──▶ fate ──▶ held ──due──▶ out ──▶ caller
//	                └───────────────▶
type faultRx struct {
	in driver.RxQueue
	fate
	held []held
	out  []*buffer.Packet
}

// Recv implements driver.RxQueue.
func (q *faultRx) Recv(w *worker.Worker, pkts []*buffer.Packet) (int, error) {
	if len(q.held) > 0 {
		q.ripen(now())
	}
	var err error
	if len(q.out) < len(pkts) {
		// pkts is the place where the inner queue's packets come in, before their fate is known
		var n int
		n, err = q.in.Recv(w, pkts)
		if n > 0 {
			q.decide(w, pkts[:n])
		}
	}
	n := copy(pkts, q.out)
	q.out = q.out[:copy(q.out, q.out[n:])]
	if n > 0 {
		return n, nil
	}
	return 0, err
}

func (q *faultRx) decide(w *worker.Worker, pkts []*buffer.Packet) {
	t := int64(0)
	if q.c.delay > 0 || q.c.jitter > 0 || q.c.reorder > 0 {
		t = now()
	}
	for i, k := range pkts {
		if q.hits(q.c.loss) {
			buffer.FreePackets(w, pkts[i:i+1])
			add(&q.lost, 1)
			continue
		}
		if q.hits(q.c.corrupt) && k.SegLen() > 0 {
			q.damage(k)
		}
		var twin *buffer.Packet
		if q.hits(q.c.dup) {
			if c, err := k.Copy(w, nil); err == nil {
				twin = c
				add(&q.doubled, 1)
			}
		}
		for _, x := range []*buffer.Packet{k, twin} {
			if x != nil {
				q.pass(x, t)
			}
		}
	}
}

// pass sends a packet on, or holds it back.
func (q *faultRx) pass(k *buffer.Packet, t int64) {
	for i := range q.held {
		q.held[i].after--
	}
	wait := q.c.delay
	if q.c.jitter > 0 {
		wait += time.Duration(q.r.Uint64() % uint64(q.c.jitter))
	}
	h := held{k: k, due: t + int64(wait), after: 1 << 30}
	if q.hits(q.c.reorder) {
		h.due += int64(reorderFor)
		h.after = 1 + int(q.r.Uint64()%4)
		add(&q.reordered, 1)
	}
	if h.due == t {
		q.out = append(q.out, k)
	} else {
		if len(q.held) == maxHeld {
			q.held[0].due = 0
			q.ripen(t)
		}
		q.held = append(q.held, h)
	}
	if len(q.held) > 0 {
		q.ripen(t)
	}
}

// ripen moves what is due from held to out.
func (q *faultRx) ripen(t int64) {
	keep := q.held[:0]
	for _, h := range q.held {
		if h.due <= t || h.after <= 0 {
			q.out = append(q.out, h.k)
		} else {
			keep = append(keep, h)
		}
	}
	q.held = keep
}

func (q *faultRx) free() {
	for _, h := range q.held {
		buffer.FreePacket(nil, h.k)
	}
	buffer.FreePackets(nil, q.out)
	q.held, q.out = q.held[:0], q.out[:0]
}

// Arm implements driver.Waiter.
func (q *faultRx) Arm(wake func()) (fd int, due time.Duration, ready bool) {
	fd, due, ready = arm(q.in, wake)
	if len(q.out) > 0 {
		return fd, due, true
	}
	for _, h := range q.held {
		d := max(time.Duration(h.due-now()), time.Microsecond)
		if due == 0 || d < due {
			due = d
		}
	}
	return fd, due, ready
}

// Disarm implements driver.Waiter.
func (q *faultRx) Disarm() { disarm(q.in) }

// Drops implements driver.RxQueue.
func (q *faultRx) Drops() map[string]uint64 {
	m := q.in.Drops()
	m["fault_lost"] = q.lost.LoadAcq()
	return m
}

// faultTx sends with faults. What the inner queue does not take stays with the caller,
// whose next try does not change its fate.
type faultTx struct {
	in driver.TxQueue
	fate
	chosen bool // of the packet that was not taken last time: it goes
	double bool // and twice
	one    [1]*buffer.Packet
}

// Send implements driver.TxQueue.
func (q *faultTx) Send(w *worker.Worker, pkts []*buffer.Packet) (int, error) {
	for i, k := range pkts {
		q.one[0] = k
		if !q.chosen && q.hits(q.c.loss) {
			buffer.FreePackets(w, q.one[:])
			add(&q.lost, 1)
			continue
		}
		if !q.chosen && q.hits(q.c.corrupt) && k.Exchangeable() && k.SegLen() > 0 {
			q.damage(k)
		}
		var twin *buffer.Packet
		q.double = q.chosen && q.double || !q.chosen && q.hits(q.c.dup)
		if q.double {
			twin, _ = k.Copy(w, nil)
		}
		q.chosen = true
		n, err := q.in.Send(w, q.one[:])
		if n == 0 {
			if twin != nil {
				buffer.FreePacket(w, twin)
			}
			if i > 0 {
				err = nil
			}
			return i, err
		}
		q.chosen = false
		if twin != nil {
			q.one[0] = twin
			if n, _ := q.in.Send(w, q.one[:]); n == 1 {
				add(&q.doubled, 1)
			} else {
				buffer.FreePacket(w, twin)
			}
		}
	}
	return len(pkts), nil
}

// Drops implements driver.TxQueue.
func (q *faultTx) Drops() map[string]uint64 {
	m := q.in.Drops()
	m["fault_lost"] = q.lost.LoadAcq()
	return m
}
