// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"io"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/odp-go/godp/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// liveness is how long anything may take before it counts as hung.
const liveness = 20 * time.Second

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// open opens an instance that is closed, without error, at the end of the test.
func open(t *testing.T, cfg Config) *Instance {
	t.Helper()
	if cfg.Log == nil {
		cfg.Log = quiet
	}
	in, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return in
}

// within receives from c, and fails the test with all stacks if nothing comes.
func within[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(liveness):
		b := make([]byte, 1<<20)
		t.Fatalf("nothing came within %v\n%s", liveness, b[:runtime.Stack(b, true)])
		panic("unreachable")
	}
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want one with %q", parts)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q lacks %q", err, p)
		}
	}
}
