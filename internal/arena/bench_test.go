// SPDX-License-Identifier: Apache-2.0

package arena

import "testing"

func benchmarkOpenClose(b *testing.B, cfg Config) {
	cfg.Name = "bench"
	for b.Loop() {
		r, err := New(cfg)
		if err != nil {
			b.Fatal(err)
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpenClose8K(b *testing.B)  { benchmarkOpenClose(b, Config{Size: 8 << 10}) }
func BenchmarkOpenClose64M(b *testing.B) { benchmarkOpenClose(b, Config{Size: 64 << 20}) }
func BenchmarkOpenClose64MHuge(b *testing.B) {
	benchmarkOpenClose(b, Config{Size: 64 << 20, Huge: true})
}
func BenchmarkOpenClose350MHuge(b *testing.B) { benchmarkOpenClose(b, Config{Size: 350e6, Huge: true}) }
