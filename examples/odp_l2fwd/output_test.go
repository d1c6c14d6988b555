// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

var errFull = errors.New("no space left on device")

// full is an output that takes n bytes.
type full struct{ n int }

func (f *full) Write(b []byte) (int, error) {
	if f.n -= len(b); f.n < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// A result that can't be written is a failure, of the demonstration too; it is told once.
func TestOutputFull(t *testing.T) {
	for _, args := range []string{"-t 1", "-t 1 -json", "-h", "-i loop:0?seed=64,loop:1?seed=64 -t 1"} {
		for _, n := range []int{0, 100} {
			var errs bytes.Buffer
			if status := Main(t.Context(), strings.Fields(args), &full{n}, &errs); status != 1 {
				t.Errorf("%q, %d bytes fit: exit status %d, want 1", args, n, status)
			}
			if strings.Count(errs.String(), errFull.Error()) != 1 {
				t.Errorf("%q: %q", args, errs.String())
			}
			if testing.Short() {
				break
			}
		}
	}
}
