// SPDX-License-Identifier: Apache-2.0

package pcap

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/platform/internal/pcapfile"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// txQueue writes files. One caller at a time.
type txQueue struct {
	d      *device
	path   string // "" = what is sent is thrown away
	ng     bool
	rotate int64
	keep   int
	number int // of the current file
	file   *os.File
	buf    *bufio.Writer
	w      *pcapfile.Writer
	failed error

	_         relax.Pad
	files     relax.Uint64
	swallowed relax.Uint64
	tooLong   relax.Uint64 // dropped: longer than the MTU
	noData    relax.Uint64
	_         relax.Pad
}

// fileName returns the name of the n-th file.
func (t *txQueue) fileName(n int) string {
	if n == 0 {
		return t.path
	}
	ext := filepath.Ext(t.path)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(t.path, ext), n, ext)
}

func (t *txQueue) create() (err error) {
	if t.file, err = os.Create(t.fileName(t.number)); err != nil {
		return err
	}
	if t.buf == nil {
		t.buf = bufio.NewWriterSize(t.file, 64<<10)
	} else {
		t.buf.Reset(t.file)
	}
	add(&t.files, 1)
	if t.w, err = pcapfile.NewWriter(t.buf, t.ng); err != nil {
		return err
	}
	return t.buf.Flush()
}

func (t *txQueue) closeFile() error {
	if t.file == nil {
		return nil
	}
	f := t.file
	t.file = nil
	return errors.Join(t.buf.Flush(), f.Close())
}

// turn starts the next file, and removes the oldest.
func (t *txQueue) turn() error {
	if err := t.closeFile(); err != nil {
		return err
	}
	t.number++
	if old := t.number - t.keep; t.keep > 0 && old >= 0 {
		if err := os.Remove(t.fileName(old)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return t.create()
}

// Send implements driver.TxQueue. What it took is with the kernel when it returns.
func (t *txQueue) Send(w *worker.Worker, pkts []*buffer.Packet) (int, error) {
	if st := t.d.state.LoadAcq(); st != stateRunning || t.failed != nil {
		if st == stateClosed {
			return 0, queue.ErrClosed
		}
		return 0, t.failed
	}
	if t.path == "" {
		add(&t.swallowed, uint64(len(pkts)))
		buffer.FreePackets(w, pkts)
		return len(pkts), nil
	}
	now, mtu := time.Now().UnixNano(), t.d.MTU()
	for i, k := range pkts {
		if err := t.write(now, k, mtu); err != nil {
			return t.broken(w, pkts[:i], err)
		}
	}
	if err := t.buf.Flush(); err != nil {
		return t.broken(w, pkts, err)
	}
	buffer.FreePackets(w, pkts)
	return len(pkts), nil
}

// broken ends the queue: the packets were taken, and may be lost with the file.
func (t *txQueue) broken(w *worker.Worker, taken []*buffer.Packet, err error) (int, error) {
	t.failed = t.d.fault("writing "+t.fileName(t.number)+" failed", err)
	buffer.FreePackets(w, taken)
	if len(taken) > 0 {
		return len(taken), nil
	}
	return 0, t.failed
}

func (t *txQueue) write(now int64, k *buffer.Packet, mtu int) error {
	n := k.Len()
	switch {
	case n == 0:
		add(&t.noData, 1)
		return nil
	case n > mtu:
		add(&t.tooLong, 1)
		return nil
	}
	if t.rotate > 0 && t.w.Len()+int64(n)+32 > t.rotate && t.w.Len() > 100 {
		if err := t.turn(); err != nil {
			return err
		}
	}
	if err := t.w.Begin(now, n); err != nil {
		return err
	}
	for s := k.FirstSeg(); s != nil; s = s.Next() {
		if err := t.w.Data(s.Data()); err != nil {
			return err
		}
	}
	return t.w.End()
}

// Drops implements driver.TxQueue.
func (t *txQueue) Drops() map[string]uint64 {
	return map[string]uint64{"longer_than_mtu": t.tooLong.LoadAcq(), "no_data": t.noData.LoadAcq()}
}
