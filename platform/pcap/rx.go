// SPDX-License-Identifier: Apache-2.0

package pcap

import (
	"errors"
	"io"
	"math/bits"
	"os"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/platform/internal/pcapfile"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// rxQueue replays a file. One caller at a time.
type rxQueue struct {
	d     *device
	file  *os.File // nil: nothing is received
	r     *pcapfile.Reader
	loops int // to play; 0 = for ever
	paced bool
	gap   time.Duration
	rate  int64

	next    pcapfile.Record // read, and not received yet
	have    bool
	none    bool // nothing comes any more
	failed  error
	first   int64 // time of the first packet of this loop in the file
	started time.Time
	sent    int64 // packets since started
	inLoop  int   // packets of this loop
	resume  relax.Uint32

	_       relax.Pad
	ended   relax.Uint64 // loops played
	cut     relax.Uint64 // packets that the capture cut short, received as they are
	tooLong relax.Uint64 // dropped: longer than a packet of the pool can be
	empty   relax.Uint64 // dropped: no data
	link    relax.Uint64 // dropped: of an interface that is not Ethernet
	starved relax.Uint64
	_       relax.Pad
}

func add(c *relax.Uint64, n uint64) { c.StoreRel(c.LoadAcq() + n) }

// open opens the file and looks at its start. Reading a file takes a bounded time; a
// pipe would not.
func (q *rxQueue) open(path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return q.d.fail("open "+path, "", err, "")
	}
	if !st.Mode().IsRegular() {
		return q.d.fail("open "+path, "it is no regular file", nil, "copy it to one: reading a pipe or terminal could block a worker")
	}
	if q.file, err = os.Open(path); err != nil {
		return q.d.fail("open "+path, "", err, "")
	}
	if q.r, err = pcapfile.NewReader(q.file); err != nil {
		return q.d.fail("read "+path, "", err, "")
	}
	if l := q.r.Link(); l >= 0 && l != pcapfile.Ethernet {
		return q.d.fail("read "+path, linkError(l), nil, "")
	}
	return nil
}

// peek makes q.next the next packet; false: there is none, now or ever.
func (q *rxQueue) peek() bool {
	for !q.have && !q.none {
		r, err := q.r.Next()
		switch {
		case err == nil && r.Link != pcapfile.Ethernet:
			add(&q.link, 1)
		case err == nil && len(r.Data) == 0:
			add(&q.empty, 1)
		case err == nil && len(r.Data) > q.d.pool.MaxLen():
			add(&q.tooLong, 1)
		case err == nil:
			if q.inLoop == 0 {
				q.first = r.Time
				if q.ended.LoadAcq() > 0 && q.paced {
					q.started = time.Now()
				}
			}
			q.inLoop++
			q.next, q.have = r, true
		case err == io.EOF:
			q.rewind()
		default:
			q.fail(err)
		}
	}
	return q.have
}

func (q *rxQueue) fail(err error) {
	q.none = true
	why := "the file is wrong"
	if errors.Is(err, io.ErrUnexpectedEOF) {
		why = "the file is cut short"
	}
	q.failed = q.d.fault(why+"; the packets before that were received", err)
}

// rewind starts the next loop.
func (q *rxQueue) rewind() {
	add(&q.ended, 1)
	if q.inLoop == 0 || q.loops > 0 && q.ended.LoadAcq() >= uint64(q.loops) {
		q.none = true
		return
	}
	q.inLoop = 0
	_, err := q.file.Seek(0, io.SeekStart)
	if err == nil {
		q.r, err = pcapfile.NewReader(q.file)
	}
	if err != nil {
		q.fail(err)
	}
}

// due returns how long it is until q.next may be received, <= 0: now.
func (q *rxQueue) due() time.Duration {
	switch {
	case q.gap > 0:
		hi, lo := bits.Mul64(uint64(q.sent), uint64(time.Second))
		ns, _ := bits.Div64(hi%uint64(q.rate), lo, uint64(q.rate))
		return time.Until(q.started.Add(time.Duration(ns)))
	case q.paced:
		return time.Until(q.started.Add(time.Duration(q.next.Time - q.first)))
	}
	return 0
}

// Recv implements driver.RxQueue.
func (q *rxQueue) Recv(w *worker.Worker, pkts []*buffer.Packet) (int, error) {
	if st := q.d.state.LoadAcq(); st != stateRunning || q.file == nil {
		if st == stateClosed {
			return 0, queue.ErrClosed
		}
		return 0, nil
	}
	if q.resume.LoadAcq() != 0 {
		q.restartClock()
	}
	n := 0
	var one [1]*buffer.Packet
	for n < len(pkts) && q.peek() && q.due() <= 0 {
		b := q.next.Data
		if q.d.pool.AllocPackets(w, one[:], len(b)) == 0 {
			add(&q.starved, 1)
			break
		}
		if q.next.Orig > len(b) {
			add(&q.cut, 1)
		}
		for s := one[0].FirstSeg(); s != nil; s = s.Next() {
			b = b[copy(s.Data(), b):]
		}
		q.have = false
		q.sent++
		pkts[n] = one[0]
		n++
	}
	if n > 0 {
		return n, nil
	}
	return 0, q.failed
}

// restartClock goes on with the packet that is next, as if it were due now.
func (q *rxQueue) restartClock() {
	q.resume.StoreSeq(0)
	q.started, q.sent = time.Now(), 0
	if q.peek() {
		q.first = q.next.Time
	}
}

// Arm implements driver.Waiter.
func (q *rxQueue) Arm(func()) (fd int, due time.Duration, ready bool) {
	if q.file == nil {
		return -1, 0, false
	}
	if q.d.state.LoadAcq() != stateRunning || q.resume.LoadAcq() != 0 {
		return -1, 0, true
	}
	if !q.peek() {
		return -1, 0, q.failed != nil
	}
	due = q.due()
	return -1, max(due, 0), due <= 0
}

// Disarm implements driver.Waiter.
func (q *rxQueue) Disarm() {}

// Drops implements driver.RxQueue.
func (q *rxQueue) Drops() map[string]uint64 {
	return map[string]uint64{"longer_than_packet": q.tooLong.LoadAcq(), "no_data": q.empty.LoadAcq(), "not_ethernet": q.link.LoadAcq()}
}
