// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/cmd/odp/internal/cli"
	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/odp"
)

const memoryWhat = "what an instance costs: time to start, bytes of queues, pools and workers"

// memoryOptions are the options of "odp bench memory".
type memoryOptions struct {
	queues, size, packets, workers, reps int
	asJSON                               bool
}

// runMemory is "odp bench memory".
func runMemory(ctx context.Context, args []string, version string, stdout io.Writer) error {
	fs := flag.NewFlagSet("odp bench memory", flag.ContinueOnError)
	var o memoryOptions
	var short bool
	fs.IntVar(&o.queues, "q", 512, "`queues` that are made to see what one costs")
	fs.IntVar(&o.size, "e", 128, "`events` that each queue holds")
	fs.IntVar(&o.packets, "n", 16384, "`packets` of the pool")
	fs.IntVar(&o.workers, "c", 1, "`workers`")
	fs.IntVar(&o.reps, "reps", 9, "repetitions of the start; the report is their median")
	fs.BoolVar(&o.asJSON, "json", false, "print the result as JSON")
	fs.BoolVar(&short, "short", false, "a small instance, once: shows that it works")
	if done, err := cli.Parse(fs, "odp bench memory [options]\n\n"+memoryWhat, args, stdout); done || err != nil {
		return err
	}
	if short {
		o.reps, o.queues, o.packets = 1, 16, 512
	}
	if err := firstErr(within("q", o.queues, 1, 1<<15), within("e", o.size, 1, 1<<16), within("n", o.packets, 64, 1<<20), within("c", o.workers, 1, 64), within("reps", o.reps, 1, 1000)); err != nil {
		return err
	}
	res := &Result{Bench: "memory", Repetitions: o.reps, Version: version, Machine: ThisMachine(), CPUShare: 1, Memory: map[string]float64{}, Extra: map[string]Spread{},
		Params: Params{{"queues", o.queues}, {"events", o.size}, {"packets", o.packets}, {"workers", o.workers}}}
	if err := o.measure(ctx, res); err != nil {
		return err
	}
	return res.write(stdout, o.asJSON)
}

func (o *memoryOptions) open(ctx context.Context, ids int) (*odp.Instance, error) {
	cfg := odp.Config{Name: "bench", Workers: o.workers, MaxWorkers: ids, Log: slog.New(slog.DiscardHandler)}
	cfg.Scheduler.MaxQueues = max(1024, o.queues)
	return odp.Open(ctx, cfg)
}

func (o *memoryOptions) measure(ctx context.Context, res *Result) error {
	var total, pool []float64
	for range o.reps {
		t, p, err := o.start(ctx)
		if err != nil {
			return err
		}
		total, pool = append(total, t), append(pool, p)
	}
	res.Extra["start: open, pool, first worker runs, ms"] = SpreadOf(total)
	res.Extra["of it the pool, ms"] = SpreadOf(pool)
	few, many := o.workers+1, o.workers+33
	a, err := o.bytes(ctx, few, nil)
	if err != nil {
		return err
	}
	b, err := o.bytes(ctx, many, nil)
	if err != nil {
		return err
	}
	res.Memory["bytes of an instance without objects"] = a
	res.Memory["bytes of a worker id, without objects"] = (b - a) / float64(many-few)
	for _, x := range []struct {
		name string
		n    int
		make func(*odp.Instance) error
	}{
		{"bytes of a plain queue", o.queues, func(in *odp.Instance) error {
			_, err := in.NewQueue(odp.QueueConfig{Size: o.size})
			return err
		}},
		{"bytes of a scheduled queue, parallel", o.queues, o.schedQueue(odp.Parallel)},
		{"bytes of a scheduled queue, atomic", o.queues, o.schedQueue(odp.Atomic)},
		{"bytes of a scheduled queue, ordered", o.queues, o.schedQueue(odp.Ordered)},
	} {
		for _, ids := range []int{few, many} {
			empty, err := o.bytes(ctx, ids, nil)
			if err != nil {
				return err
			}
			full, err := o.bytes(ctx, ids, func(in *odp.Instance) error {
				for range x.n {
					if err := x.make(in); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			res.Memory[fmt.Sprintf("%s of %d events, instance of %d ids", x.name, o.size, ids)] = (full - empty) / float64(x.n)
		}
	}
	return o.pools(ctx, res)
}

func (o *memoryOptions) schedQueue(sync odp.Sync) func(*odp.Instance) error {
	return func(in *odp.Instance) error {
		_, err := in.NewSchedQueue(odp.SchedQueueConfig{Sync: sync, Size: o.size})
		return err
	}
}

// pools says what an event of a pool takes.
func (o *memoryOptions) pools(ctx context.Context, res *Result) error {
	inst, err := o.open(ctx, o.workers+1)
	if err != nil {
		return err
	}
	defer inst.Close()
	for name, cfg := range map[string]odp.PoolConfig{
		"bytes of a packet of the default size": {Name: "packets", Num: o.packets},
		"bytes of a buffer of 64 bytes":         {Name: "buffers", Num: o.packets, Type: buffer.TypeBuffer, Size: 64},
	} {
		p, err := inst.NewPool(cfg)
		if err != nil {
			return err
		}
		res.Memory[name] = float64(p.Info().Memory) / float64(o.packets)
		res.Memory[name+", its data"] = float64(cfg.Size)
		if cfg.Size == 0 {
			res.Memory[name+", its data"] = float64(p.SegCap())
		}
	}
	return inst.Close()
}

// start opens an instance with a pool of packets and waits until the first worker runs.
func (o *memoryOptions) start(ctx context.Context) (total, pool float64, err error) {
	t0 := time.Now()
	inst, err := o.open(ctx, o.workers+1)
	if err != nil {
		return 0, 0, err
	}
	defer inst.Close()
	t1 := time.Now()
	p, err := inst.NewPool(odp.PoolConfig{Name: "packets", Num: o.packets})
	if err != nil {
		return 0, 0, err
	}
	pool = time.Since(t1).Seconds() * 1e3
	err = inst.Run(ctx, func(w *odp.Worker) error {
		if k := p.AllocPacket(w, 64); k != nil {
			if w.ID() == 0 {
				total = time.Since(t0).Seconds() * 1e3
			}
			odp.FreePackets(w, []*odp.Packet{k})
		}
		return nil
	})
	if err == nil {
		err = inst.Close()
	}
	if err == nil && total == 0 {
		err = fmt.Errorf("the first worker got no packet")
	}
	return total, pool, err
}

// bytes returns the memory of an instance with the objects that fill makes: Go's heap
// after a collection, and the arena.
func (o *memoryOptions) bytes(ctx context.Context, ids int, fill func(*odp.Instance) error) (float64, error) {
	before := inUse()
	inst, err := o.open(ctx, ids)
	if err != nil {
		return 0, err
	}
	defer inst.Close()
	if fill != nil {
		if err := fill(inst); err != nil {
			return 0, err
		}
	}
	n := inUse() - before
	runtime.KeepAlive(inst)
	return n, inst.Close()
}

func inUse() float64 {
	runtime.GC()
	runtime.GC() // what finalizers let go of
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	n := float64(m.HeapAlloc)
	for _, r := range arena.OpenRanges() {
		n += float64(r.Size)
	}
	return n
}
