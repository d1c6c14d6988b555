// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"regexp"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/cmd/odp/internal/cli"
	"github.com/odp-go/godp/header"
	"github.com/odp-go/godp/odp"
)

const numCalls = 1000 // of a function in a round, as in the originals

var errShort = errors.New("the pool gave fewer than asked for")

// calls is what the functions of odp_bench_packet and odp_bench_buffer work on: init
// prepares (not timed), run makes exactly numCalls calls, term gives back.
type calls struct {
	w          *odp.Worker
	pool, bufs *odp.Pool
	length     int
	burst      int

	pkts, second []*odp.Packet // numCalls x burst
	bs           []*odp.Buffer
	ev           []*odp.Event
	views        [][]byte
	mem          []byte
	offs         []int
	sum          int // keeps results in use
	err          error
}

// function is a row of the tables.
type function struct {
	name            string // ODP's, without odp_
	init, run, term func(x *calls)
}

// callOptions are the options of "odp bench packet".
type callOptions struct {
	com           Common
	burst, cache  int
	length, round int
	only          *regexp.Regexp
}

// runCalls is "odp bench packet".
func runCalls(ctx context.Context, args []string, version string, stdout io.Writer) error {
	fs := flag.NewFlagSet("odp bench packet", flag.ContinueOnError)
	o, pattern := callFlags(fs)
	if done, err := cli.Parse(fs, "odp bench packet [options]\n\n"+packetMirrors+"\n\nA round makes 1000 calls of each function; the first round is warm-up.", args, stdout); done || err != nil {
		return err
	}
	if err := o.check(*pattern); err != nil {
		return err
	}
	res := &Result{Bench: "packet", Repetitions: o.round, Version: version, Machine: ThisMachine(), CPUShare: 1,
		Params: Params{{"burst", o.burst}, {"length", o.length}, {"cache", o.cache}, {"only", *pattern}}}
	if err := o.measure(ctx, res); err != nil {
		return err
	}
	return res.write(stdout, o.com.JSON)
}

const packetMirrors = "odp_bench_packet, odp_bench_buffer: calls of single functions"

func callFlags(fs *flag.FlagSet) (o *callOptions, pattern *string) {
	o = &callOptions{}
	fs.IntVar(&o.burst, "b", 8, "`burst` of the calls for several")
	fs.IntVar(&o.cache, "c", 0, "`events` that the worker caches; 0 = the pool's default, -1 = none")
	fs.IntVar(&o.length, "l", 64, "`bytes` of the packets")
	fs.IntVar(&o.round, "r", 20, "`rounds`; the report is their median, min and max")
	pattern = fs.String("i", "", "only the functions whose name this regular `expression` matches")
	fs.BoolVar(&o.com.JSON, "json", false, "print the result as JSON")
	fs.BoolVar(&o.com.Short, "short", false, "one round: shows that it works, its figures mean nothing")
	fs.IntVar(&o.com.Nice, "nice", 0, "nice value of the worker; 0 = unchanged")
	fs.StringVar(&o.com.CPUProfile, "cpuprofile", "", "write a CPU profile to `file`")
	return o, pattern
}

func (o *callOptions) check(pattern string) (err error) {
	if o.com.Short {
		o.round = 1
	}
	if o.only, err = regexp.Compile(pattern); err != nil {
		return cli.Usage("-i %q: %v", pattern, err)
	}
	if len(o.functions()) == 0 {
		return cli.Usage("-i %q matches no function", pattern)
	}
	return firstErr(within("b", o.burst, 1, 64), within("c", o.cache, -1, 1024), within("l", o.length, 64, 2048), within("r", o.round, 1, 100000), within("nice", o.com.Nice, -20, 19))
}

// functions returns the chosen ones, in the order of the tables.
func (o *callOptions) functions() (list []function) {
	for _, table := range [][]function{allocFunctions, fieldFunctions, dataFunctions, bufferFunctions} {
		for _, f := range table {
			if o.only.MatchString(f.name) {
				list = append(list, f)
			}
		}
	}
	return list
}

// measure runs the functions on a worker of its own instance.
func (o *callOptions) measure(ctx context.Context, res *Result) error {
	stop, err := profile(o.com.CPUProfile)
	if err != nil {
		return err
	}
	defer stop()
	inst, err := odp.Open(ctx, odp.Config{Name: "bench", Workers: 1, MaxWorkers: 2, Nice: o.com.Nice, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer inst.Close()
	x := &calls{length: o.length, burst: o.burst}
	n := numCalls * o.burst
	if x.pool, err = inst.NewPool(odp.PoolConfig{Name: "packets", Num: 4*n + 1024, Size: 2048, UserArea: 8, Cache: o.cache, Need: 4 * n}); err != nil {
		return err
	}
	if x.bufs, err = inst.NewPool(odp.PoolConfig{Name: "buffers", Type: buffer.TypeBuffer, Num: n + 1024, Size: 1024, UserArea: 64, Cache: o.cache, Need: n}); err != nil {
		return err
	}
	x.pkts, x.second, x.bs = make([]*odp.Packet, n), make([]*odp.Packet, n), make([]*odp.Buffer, n)
	x.ev, x.views, x.offs = make([]*odp.Event, n), make([][]byte, n), make([]int, n)
	x.mem = make([]byte, 2048)
	err = inst.Run(ctx, func(w *odp.Worker) error {
		x.w = w
		for _, f := range o.functions() {
			if !w.Running() {
				return ctx.Err()
			}
			r, err := o.function(x, f)
			if err != nil {
				return err
			}
			res.Functions = append(res.Functions, r)
		}
		return nil
	})
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = inst.Close()
	}
	return err
}

// function measures one function.
func (o *callOptions) function(x *calls, f function) (FunctionResult, error) {
	var cyc, ns []float64
	for round := range o.round + 1 {
		if f.init != nil {
			f.init(x)
		}
		start := cyclesStrict()
		f.run(x)
		took := cyclesStrict() - start
		if f.term != nil {
			f.term(x)
		}
		if round > 0 {
			cyc = append(cyc, float64(took)/numCalls)
			ns = append(ns, toNs(took)/numCalls)
		}
		if x.err != nil {
			return FunctionResult{}, fmt.Errorf("%s: %w", f.name, x.err)
		}
		if out := x.pool.Out() + x.bufs.Out(); out != 0 {
			return FunctionResult{}, fmt.Errorf("%s: %d packets or buffers are out after the round", f.name, out)
		}
	}
	return FunctionResult{Name: f.name, Cycles: SpreadOf(cyc), Ns: SpreadOf(ns)}, nil
}

// fault keeps the first error of a run.
func (x *calls) fault(err error) {
	if err != nil && x.err == nil {
		x.err = err
	}
}

// alloc fills a part of a table with packets of a length.
func (x *calls) alloc(t []*odp.Packet, length int) {
	for len(t) > 0 {
		n := x.pool.AllocPackets(x.w, t, length)
		if n == 0 {
			x.fault(errShort)
			return
		}
		t = t[n:]
	}
}

// one makes the packets of a round, many those of a round of bursts.
func one(x *calls)  { x.alloc(x.pkts[:numCalls], x.length) }
func half(x *calls) { x.alloc(x.pkts[:numCalls], x.length/2) }
func many(x *calls) { x.alloc(x.pkts, x.length) }
func two(x *calls)  { one(x); x.alloc(x.second[:numCalls], x.length) }

// halves makes two packets of half the length for each call.
func halves(x *calls) { half(x); x.alloc(x.second[:numCalls], x.length/2) }

// parsed makes packets with headers that are known.
func parsed(x *calls) {
	frames(x)
	for _, k := range x.pkts[:numCalls] {
		x.fault(header.ParsePacket(k, 0, header.ParseConfig{}))
	}
}

// frames makes UDP over IPv4 packets that are not parsed yet.
func frames(x *calls) {
	one(x)
	for _, k := range x.pkts[:numCalls] {
		udpFrame(k.Data())
	}
}

// framesMany is frames for calls with bursts.
func framesMany(x *calls) {
	many(x)
	for _, k := range x.pkts {
		udpFrame(k.Data())
	}
}

// udpFrame writes a valid header of a UDP packet.
func udpFrame(b []byte) {
	clear(b)
	copy(b, []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45})
	b[16], b[17], b[22], b[23] = byte((len(b)-14)>>8), byte(len(b)-14), 64, 17
	copy(b[26:], []byte{10, 0, 0, 1, 10, 0, 0, 2, 0x10, 0, 0x20, 0, byte((len(b) - 34) >> 8), byte(len(b) - 34)})
	s := ^header.Sum16(b[14:34])
	b[24], b[25] = byte(s>>8), byte(s)
}

func free(x *calls)     { odp.FreePackets(x.w, x.pkts[:numCalls]) }
func freeMany(x *calls) { odp.FreePackets(x.w, x.pkts) }
func freeTwo(x *calls)  { free(x); odp.FreePackets(x.w, x.second[:numCalls]) }

// buffersOne makes the buffers of a round.
func buffersOne(x *calls) { x.allocBuffers(x.bs[:numCalls]) }

func buffersMany(x *calls) { x.allocBuffers(x.bs) }

func (x *calls) allocBuffers(t []*odp.Buffer) {
	for len(t) > 0 {
		n := x.bufs.AllocBuffers(x.w, t)
		if n == 0 {
			x.fault(errShort)
			return
		}
		t = t[n:]
	}
}

func freeBuffers(x *calls)     { buffer.FreeBuffers(x.w, x.bs[:numCalls]) }
func freeBuffersMany(x *calls) { buffer.FreeBuffers(x.w, x.bs) }
