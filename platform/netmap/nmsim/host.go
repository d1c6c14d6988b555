// SPDX-License-Identifier: Apache-2.0

package nmsim

import "sync"

// hostQueue is the simulated host stack behind the host rings of a port: what the
// client sent up, waiting for HostRecv. It is bounded; what comes on top is dropped.
type hostQueue struct {
	mu      sync.Mutex
	frames  [][]byte
	dropped uint64
}

const hostQueueMax = 4096

// hostOut passes frames of a host TX ring to the stack.
func (k *kring) hostOut(i, end uint32) {
	var frames, bytes uint64
	q := &k.port.hostQ
	q.mu.Lock()
	for ; i != end; i = k.next(i) {
		b := k.bytes(i)
		if len(b) < 14 {
			continue
		}
		frames++
		bytes += uint64(len(b))
		if len(q.frames) >= hostQueueMax {
			q.dropped++
			continue
		}
		q.frames = append(q.frames, append([]byte(nil), b...))
	}
	q.mu.Unlock()
	add(&k.c.frames, frames)
	add(&k.c.bytes, bytes)
}
