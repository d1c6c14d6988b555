// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// Options are the options of RunAll; the zero value runs everything.
type Options struct {
	// Run selects cases by id; nil = all.
	Run *regexp.Regexp
	// Areas are the areas to run; none = all.
	Areas []string
	// Short asks for fewer rounds.
	Short bool
	// Limit is how long a case may take; more is a failure that ends the run, since
	// what hangs can't be stopped. Default 3 minutes.
	Limit time.Duration
	// Each is called after each case, from the goroutine of RunAll.
	Each func(r Result)
	// Log receives what the cases log, a line at a time, from any goroutine.
	Log func(id, line string)
}

// RunAll runs the cases one after the other without the testing package. It ends
// early when ctx is cancelled: the cases that did not run are not in the report.
func RunAll(ctx context.Context, f Factory, o Options) Report {
	if o.Limit == 0 {
		o.Limit = 3 * time.Minute
	}
	r := newReport(f.Name)
	for _, c := range Cases() {
		if ctx.Err() != nil {
			break
		}
		if o.Run != nil && !o.Run.MatchString(c.ID) || len(o.Areas) != 0 && !slices.Contains(o.Areas, c.Area()) {
			continue
		}
		res, hung := runCase(ctx, &f, c, &o)
		r.add(res)
		if o.Each != nil {
			o.Each(res)
		}
		if hung {
			break
		}
	}
	return r
}

func runCase(ctx context.Context, f *Factory, c Case, o *Options) (r Result, hung bool) {
	ctx, cancel := context.WithCancel(ctx)
	t := &plainT{id: c.ID, o: o, ctx: ctx, helpers: map[string]bool{}}
	done := make(chan struct{})
	began := time.Now()
	go func() { // a goroutine of its own, so that Fatalf and Skip can end it
		defer close(done)
		defer t.finish(cancel)
		c.exec(f, t)
	}()
	select {
	case <-done:
	case <-time.After(o.Limit):
		hung = true
		b := make([]byte, 1<<20)
		t.Errorf("the case did not end within %v: the run stops here\n%s", o.Limit, b[:runtime.Stack(b, true)])
		cancel()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r = Result{Platform: f.Name, ID: c.ID, Area: c.Area(), Objective: c.Objective, Lacks: t.skipped, Log: t.log, Seconds: time.Since(began).Seconds()}
	switch {
	case t.failed:
		r.State = Failed
	case t.skipped != "":
		r.State = Skipped
	default:
		r.State = Passed
	}
	if r.State != Failed {
		if msg := f.judge(c.ID, t.skipped); msg != "" {
			r.State = Failed
			r.Log = append(r.Log, msg)
		}
	}
	return r, hung
}

// plainT is a T that keeps what was said.
type plainT struct {
	id  string
	o   *Options
	ctx context.Context

	mu      sync.Mutex
	failed  bool
	skipped Capability
	log     []string
	cleanup []func()
	helpers map[string]bool
}

// finish runs the cleanups of a case that has ended, in whatever way.
func (t *plainT) finish(cancel context.CancelFunc) {
	if v := recover(); v != nil {
		t.Errorf("panic: %v\n%s", v, debug.Stack())
	}
	cancel()
	for {
		t.mu.Lock()
		n := len(t.cleanup)
		if n == 0 {
			t.mu.Unlock()
			return
		}
		f := t.cleanup[n-1]
		t.cleanup = t.cleanup[:n-1]
		t.mu.Unlock()
		t.protect(f)
	}
}

// protect runs one cleanup; one that panics or ends the goroutine does not keep
// the others from running.
func (t *plainT) protect(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				t.Errorf("panic in a cleanup: %v\n%s", v, debug.Stack())
			}
		}()
		f()
	}()
	<-done
}

// Helper marks the calling function: its lines are not the place of a failure.
func (t *plainT) Helper() {
	pc, _, _, ok := runtime.Caller(1)
	if !ok {
		return
	}
	t.mu.Lock()
	t.helpers[runtime.FuncForPC(pc).Name()] = true
	t.mu.Unlock()
}

func (t *plainT) say(failed bool, format string, args []any) {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	t.mu.Lock()
	place := ""
	for {
		fr, more := frames.Next()
		if !t.helpers[fr.Function] {
			place = fmt.Sprintf("%s:%d: ", path.Base(fr.File), fr.Line)
			break
		}
		if !more {
			break
		}
	}
	line := place + fmt.Sprintf(format, args...)
	t.failed = t.failed || failed
	t.log = append(t.log, line)
	t.mu.Unlock()
	if t.o.Log != nil {
		t.o.Log(t.id, line)
	}
}

func (t *plainT) Errorf(format string, args ...any) { t.say(true, format, args) }
func (t *plainT) Logf(format string, args ...any)   { t.say(false, format, args) }
func (t *plainT) Fatalf(format string, args ...any) {
	t.say(true, format, args)
	runtime.Goexit()
}

func (t *plainT) Skip(c Capability) {
	t.mu.Lock()
	t.skipped = c
	t.mu.Unlock()
	runtime.Goexit()
}

func (t *plainT) Cleanup(f func()) {
	t.mu.Lock()
	t.cleanup = append(t.cleanup, f)
	t.mu.Unlock()
}

func (t *plainT) Context() context.Context { return t.ctx }
func (t *plainT) Short() bool              { return t.o.Short }
func (t *plainT) Failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed
}
