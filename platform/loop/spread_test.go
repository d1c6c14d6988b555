// SPDX-License-Identifier: Apache-2.0

package loop

import (
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/worker"
)

// A flow goes to one receive queue, however its frames are cut into segments.
func TestSpreadOverSegments(t *testing.T) {
	set, err := worker.NewSet(2)
	if err != nil {
		t.Fatal(err)
	}
	p, err := buffer.NewPool(set, buffer.PoolConfig{Num: 64, Size: 256})
	if err != nil {
		t.Fatal(err)
	}
	whole := p.AllocPacket(nil, 100)
	fillFrame(whole.Data(), []byte{2, 0, 0, 0, 0, 1}, 5, 7)
	b := append([]byte(nil), whole.Data()...)
	want := spread(whole)
	buffer.FreePacket(nil, whole)
	for _, head := range []int{1, 11, 12, 14, 30, 59, 60, 99} {
		k, rest := p.AllocPacket(nil, head), p.AllocPacket(nil, len(b)-head)
		k.PushTail(k.Tailroom()) // no room behind: the rest stays a segment of its own
		k.PullHead(k.Len() - head)
		copy(k.Data(), b)
		copy(rest.Data(), b[head:])
		if err := k.Concat(nil, rest); err != nil {
			t.Fatal(err)
		}
		if h := spread(k); h != want || !k.Segmented() {
			t.Errorf("with %d bytes first (%d segments): %#x, whole %#x", head, k.NumSegs(), h, want)
		}
		buffer.FreePacket(nil, k)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	set.Close()
}
