// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/pprof"
	"time"

	"github.com/odp-go/godp/odp"
)

// Common are the options of every benchmark.
type Common struct {
	Workers    int
	Reps       int
	Time       time.Duration // of a timed repetition
	Warmup     time.Duration // of each repetition
	Nice       int
	Short      bool
	JSON       bool
	CPUProfile string
}

// env is what a task builds its objects in.
type env struct {
	ctx  context.Context
	inst *odp.Instance
	com  *Common
}

// task is a benchmark with its options.
type task interface {
	// params returns the options as they count, for the report.
	params() Params
	// open makes the objects of one repetition.
	open(e *env) error
	// work is the loop of worker i. It calls the meter's Begin and Finish around the loop.
	work(w *odp.Worker, i int, m *Meter) error
	// counted reports whether the loop ends by count, not by time.
	counted() bool
}

// closer is a task with something to look at after a repetition, before its objects go.
type closer interface{ closed(r *Rep) error }

// finisher is a task that adds to the report.
type finisher interface{ finish(res *Result) }

// configurer is a task that wants an instance other than the default one.
type configurer interface{ configure(*odp.Config) }

// Rep is one repetition.
type Rep struct {
	Workers []*Meter
	Extra   map[string]float64 // further figures, for the report
}

// measure runs the repetitions.
func measure(ctx context.Context, com *Common, t task) ([]*Rep, error) {
	stop, err := profile(com.CPUProfile)
	if err != nil {
		return nil, err
	}
	defer stop()
	var reps []*Rep
	for range com.Reps {
		r, err := repetition(ctx, com, t)
		if err != nil {
			return nil, err
		}
		reps = append(reps, r)
	}
	return reps, nil
}

// profile starts a CPU profile into a file; "" = none. stop ends it.
func profile(file string) (stop func(), err error) {
	if file == "" {
		return func() {}, nil
	}
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		f.Close()
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		f.Close()
	}, nil
}

func repetition(ctx context.Context, com *Common, t task) (r *Rep, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	cfg := odp.Config{Name: "bench", Workers: com.Workers, Nice: com.Nice, Log: slog.New(slog.DiscardHandler)}
	cfg.Scheduler.Idle = odp.IdleBusy
	if c, ok := t.(configurer); ok {
		c.configure(&cfg)
	}
	inst, err := odp.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := inst.Close(); err == nil {
			err = cerr
		}
	}()
	if err := t.open(&env{ctx: ctx, inst: inst, com: com}); err != nil {
		return nil, err
	}
	r = &Rep{Workers: make([]*Meter, com.Workers), Extra: map[string]float64{}}
	base, bin := cycles(), toCycles(window)
	for i := range r.Workers {
		r.Workers[i] = &Meter{base: base, bin: bin, bins: make([]uint64, maxBins), time: com.Time}
	}
	barrier := odp.NewBarrier(com.Workers)
	numbers := make(chan int, com.Workers)
	for i := range com.Workers {
		r.Workers[i].counted = t.counted()
		numbers <- i
	}
	err = inst.Run(ctx, func(w *odp.Worker) error {
		i := <-numbers
		m := r.Workers[i]
		m.w = w
		if com.Warmup > 0 {
			if err := t.work(w, i, &Meter{w: w, base: base, bin: bin, time: com.Warmup}); err != nil {
				return err
			}
		}
		// Contexts end before the wait, or others would wait for them.
		inst.Scheduler().Drain(w)
		if err := barrier.Wait(w); err != nil {
			return err
		}
		return t.work(w, i, m)
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	if c, ok := t.(closer); ok {
		err = c.closed(r)
	}
	return r, err
}

// Run measures a task and writes the report.
func run(ctx context.Context, name string, com *Common, t task, version string, out io.Writer) error {
	reps, err := measure(ctx, com, t)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	res := report(name, com, t.params(), reps)
	res.Version = version
	if f, ok := t.(finisher); ok {
		f.finish(res)
	}
	return res.write(out, com.JSON)
}
