// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"context"
	"testing"
)

// BenchmarkStart is an instance with a pool of 16 Ki packets: from Open to where workers
// could run, and its end. B/packet is the memory of the pool.
func BenchmarkStart(b *testing.B) {
	for range b.N {
		in, err := Open(context.Background(), Config{})
		if err != nil {
			b.Fatal(err)
		}
		pool, err := in.NewPool(PoolConfig{Num: 16384})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		b.ReportMetric(float64(pool.Info().Memory)/16384, "B/packet")
		if err := in.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
