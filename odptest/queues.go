// SPDX-License-Identifier: Apache-2.0

package odptest

import (
	"fmt"
	"maps"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// rxQueue holds injected frames. All fields are guarded by Device.mu.
type rxQueue struct {
	d      *Device
	pool   *buffer.Pool // of the program that has it open
	frames [][]byte
	wake   func() // of a sleeper
	drops  map[string]uint64
}

// Recv implements driver.RxQueue.
func (q *rxQueue) Recv(w *worker.Worker, pkts []*buffer.Packet) (int, error) {
	d := q.d
	if err := d.call("recv"); err != nil {
		return 0, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for n < len(pkts) && len(q.frames) > 0 {
		b := q.frames[0]
		k := q.pool.AllocPacket(w, len(b))
		if k == nil { // the frame waits: a test wants none lost by chance
			d.count["pool_empty"]++
			break
		}
		q.frames = q.frames[1:]
		scatter(k, b)
		pkts[n] = k
		n++
	}
	return n, nil
}

// Drops implements driver.RxQueue.
func (q *rxQueue) Drops() map[string]uint64 {
	q.d.mu.Lock()
	defer q.d.mu.Unlock()
	return maps.Clone(q.drops)
}

// Arm implements driver.Waiter.
func (q *rxQueue) Arm(wake func()) (fd int, due time.Duration, ready bool) {
	q.d.mu.Lock()
	defer q.d.mu.Unlock()
	if len(q.frames) > 0 {
		return -1, 0, true
	}
	q.wake = wake
	return -1, 0, false
}

// Disarm implements driver.Waiter.
func (q *rxQueue) Disarm() {
	q.d.mu.Lock()
	defer q.d.mu.Unlock()
	q.wake = nil
}

// txQueue passes sent frames to the test.
type txQueue struct {
	d     *Device
	drops map[string]uint64
}

// Send implements driver.TxQueue.
func (q *txQueue) Send(w *worker.Worker, pkts []*buffer.Packet) (int, error) {
	d := q.d
	if err := d.call("send"); err != nil {
		return 0, err
	}
	d.mu.Lock()
	n := 0
	for ; n < len(pkts) && d.room != 0 && d.link.Up; n++ {
		k := pkts[n]
		if k.Len() > d.cfg.MTU {
			q.drops["too_long"]++
			continue
		}
		d.sent = append(d.sent, gather(k))
		d.count["sent"]++
		if d.room > 0 {
			d.room--
		}
	}
	if n > 0 {
		d.change()
	}
	d.mu.Unlock()
	buffer.FreePackets(w, pkts[:n])
	return n, nil
}

// Drops implements driver.TxQueue.
func (q *txQueue) Drops() map[string]uint64 {
	q.d.mu.Lock()
	defer q.d.mu.Unlock()
	return maps.Clone(q.drops)
}

// scatter writes b into the packet's segments, which hold as much.
func scatter(k *buffer.Packet, b []byte) {
	for s := k.FirstSeg(); s != nil; s = s.Next() {
		b = b[copy(s.Data(), b):]
	}
}

// gather copies the packet's bytes.
func gather(k *buffer.Packet) []byte {
	b := make([]byte, 0, k.Len())
	for s := k.FirstSeg(); s != nil; s = s.Next() {
		b = append(b, s.Data()...)
	}
	return b
}

// call counts a call of the program's, and fails or panics when that was asked for.
func (d *Device) call(op string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.faults
	if f == nil {
		return nil
	}
	f.calls[op]++
	n := f.calls[op]
	if f.cfg.FailRecv == n && op == "recv" || f.cfg.FailSend == n && op == "send" {
		return fmt.Errorf("device %q: %s: call %d: %w by the test", d.Name(), op, n, queue.ErrFaulted)
	}
	if f.cfg.PanicRecv == n && op == "recv" || f.cfg.PanicSend == n && op == "send" {
		panic(fmt.Sprintf("odptest: device %s: %s: call %d panics, as the test asked", d.name, op, n))
	}
	return nil
}
