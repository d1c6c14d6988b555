// SPDX-License-Identifier: Apache-2.0

package odptest

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/odp-go/godp/internal/testkit"
	"github.com/odp-go/godp/odp"
)

// New opens an instance for a test. At the test's end it is shut down, and the
// test fails if anything was not given back: packets, threads, ports. The default
// log is the test's own.
func New(t testing.TB, cfg odp.Config) *odp.Instance {
	t.Helper()
	l := &testLog{t: t}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelInfo}))
	}
	in, err := odp.Open(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), Patience)
		defer cancel()
		if err := in.Shutdown(ctx); err != nil {
			t.Errorf("odptest: %v", err)
		}
		l.end()
	})
	return in
}

// testLog writes to the test's log, and nowhere once the test is over.
type testLog struct {
	mu sync.Mutex
	t  testing.TB
}

func (l *testLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.t != nil {
		l.t.Logf("%s", b)
	}
	return len(b), nil
}

func (l *testLog) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.t = nil
}

// Start runs fn on all workers of the instance, in the background. The returned
// function stops them and returns what Run returned; the test's end calls it too,
// and an error that nobody has seen fails the test.
func Start(t testing.TB, in *odp.Instance, fn func(w *odp.Worker) error) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- in.Run(ctx, fn) }()
	var once sync.Once
	var err error
	end := func() {
		cancel()
		select {
		case err = <-done:
		case <-time.After(Patience):
			err = fmt.Errorf("odptest: the workers did not stop within %v", Patience)
		}
	}
	t.Cleanup(func() {
		once.Do(func() {
			if end(); err != nil {
				t.Errorf("odptest: Run: %v", err)
			}
		})
	})
	return func() error { once.Do(end); return err }
}

// Await waits until f is true, and fails the test after Patience.
func Await(t testing.TB, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(Patience); !f(); time.Sleep(200 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatalf("odptest: no %s within %v", what, Patience)
		}
	}
}

// Main is for TestMain: it runs the tests of a package and fails it if they leave
// goroutines, descriptors, mapped files or packet memory behind.
//
//	func TestMain(m *testing.M) { odptest.Main(m) }
func Main(m *testing.M) { testkit.Main(m) }
