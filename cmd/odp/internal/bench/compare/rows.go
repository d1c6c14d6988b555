// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"fmt"
	"strings"
)

// What a peer's program has to be changed in. The loops that are measured stay untouched.
const (
	changeCPU0   = "CPU 0 may be a worker (stock ODP keeps the first CPU for control threads and offers one worker on two CPUs): after the default CPU masks are made, the worker mask is set to all CPUs if ODP_ALL_WORKERS is set. Not needed on four CPUs and more"
	changeInject = "INJECT=n sends n UDP packets of 60 bytes into each interface right after its start, since nothing else ever sends into a loop interface"
)

const (
	noteTimed  = "the peer's loop ends by a count (about half a second), ours by time"
	noteShare  = "same loop, same numbers; " + noteTimed
	noteL2fwd  = "512 packets of 60 bytes for each of two loop interfaces; both parse to layer 4, look up the output, rewrite both MAC addresses, send. Ours moves packets through a single-producer ring for each worker, the peer's loop interface is a plain queue for many"
	noteSingle = "the peer calls its functions for single events; ours has burst calls only, with one event"
)

// count returns a count that takes the peer about half a second.
func count(perSec float64) string { return fmt.Sprint(int(perSec/2/1e5+1) * 100000) }

// Rows is the table.
func Rows() (rows []Row) {
	rows = append(rows, schedRows()...)
	rows = append(rows, queueRows()...)
	rows = append(rows, poolRows()...)
	rows = append(rows, l2fwdRows()...)
	rows = append(rows, latencyRows()...)
	rows = append(rows, dpdkRows()...)
	for i := range rows {
		r := &rows[i]
		if r.Workers > 1 && strings.HasPrefix(r.Peer[0], "odp_") {
			r.Env = append(r.Env, "ODP_ALL_WORKERS=1")
			if r.Changed != "" {
				r.Changed += "; "
			}
			r.Changed += changeCPU0
		}
	}
	return rows
}

var syncNames = [...]string{"parallel", "atomic", "ordered"}

func schedRows() (rows []Row) {
	type k struct{ queues, burst, workers int }
	want := map[k][3]float64{
		{16, 32, 1}: {1.4, 1.6, 1.3}, {16, 1, 1}: {1.2, 1.2, 2.5}, {16, 32, 2}: {1.6, 1.8, 1.6},
		{1, 1, 2}: {20, 1.3, 10}, {1, 32, 2}: {6, 3, 1.6}, {16, 1, 2}: {}, {1, 32, 1}: {}, {1, 1, 1}: {},
	}
	// What the peer does on this kind of machine, M/s: sizes the runs.
	peer := map[k][3]float64{
		{16, 32, 1}: {292, 298, 319}, {16, 1, 1}: {60, 60, 14}, {16, 32, 2}: {545, 536, 572}, {16, 1, 2}: {116, 118, 25},
		{1, 1, 2}: {4.4, 48, 2.2}, {1, 32, 2}: {101, 111, 64}, {1, 32, 1}: {311, 296, 336}, {1, 1, 1}: {60, 58, 14.7},
	}
	for _, x := range []k{{16, 32, 1}, {16, 1, 1}, {16, 32, 2}, {16, 1, 2}, {1, 32, 1}, {1, 1, 1}, {1, 1, 2}, {1, 32, 2}} {
		for t, sync := range syncNames {
			args := fmt.Sprintf("-c %d -q %d -e 100 -b %d -t %d", x.workers, x.queues, x.burst, t)
			rows = append(rows, Row{
				ID:      fmt.Sprintf("sched-q%d-b%d-c%d-%s", x.queues, x.burst, x.workers, sync),
				Work:    fmt.Sprintf("sched, %s, %s, burst %d, %s", sync, plural(x.queues, "queue"), x.burst, plural(x.workers, "worker")),
				Ours:    append([]string{"sched"}, strings.Fields(args)...),
				Peer:    append([]string{"odp_sched_perf"}, strings.Fields(args+" -s "+count(peer[x][t]*1e6/float64(x.workers)))...),
				Want:    want[x][t],
				Workers: x.workers,
				Note:    noteTimed,
				read:    readODPTotal,
			})
		}
	}
	return rows
}

func queueRows() (rows []Row) {
	for _, x := range []struct {
		id, work, args string
		burst          int
		peer           float64 // M/s
		want           float64
	}{
		{"mt", "MT-safe, 1 queue", "-c 1 -q 1 -e 64", 1, 36, 1.2},
		{"mt", "MT-safe, 1 queue", "-c 1 -q 1 -e 64", 32, 580, 1.2},
		{"spsc", "single producer and consumer, 1 queue", "-c 1 -q 1 -e 64 -s", 1, 121, 1.2},
		{"spsc", "single producer and consumer, 1 queue", "-c 1 -q 1 -e 64 -s", 32, 633, 1.2},
		{"shared", "1 shared queue", "-c 2 -q 1 -e 64", 1, 4.2, 1.2},
		{"shared", "1 shared queue", "-c 2 -q 1 -e 64", 32, 105, 1.4},
		{"shared16", "16 shared queues", "-c 2 -q 16 -e 64", 1, 11.4, 0},
		{"shared16", "16 shared queues", "-c 2 -q 16 -e 64", 32, 151, 0},
		{"private", "a queue for each worker", "-c 2 -q 2 -e 64 -p", 1, 73, 0},
		{"private", "a queue for each worker", "-c 2 -q 2 -e 64 -p", 32, 1190, 0},
		{"pair-spsc", "pair, single producer and consumer", "-m 1 -p -s -c 2 -q 2 -e 256", 1, 15.6, 2},
		{"pair-spsc", "pair, single producer and consumer", "-m 1 -p -s -c 2 -q 2 -e 256", 32, 344, 1.8},
		{"pair-mt", "pair, MT-safe", "-m 1 -p -c 2 -q 2 -e 256", 1, 5.5, 5},
		{"pair-mt", "pair, MT-safe", "-m 1 -p -c 2 -q 2 -e 256", 32, 118, 1.6},
	} {
		w := 1 + strings.Count(x.args, "-c 2")
		args := fmt.Sprintf("%s -b %d", x.args, x.burst)
		rows = append(rows, Row{
			ID:      fmt.Sprintf("queue-%s-b%d-c%d", x.id, x.burst, w),
			Work:    fmt.Sprintf("plain queue, %s, burst %d, %s", x.work, x.burst, plural(w, "worker")),
			Ours:    append([]string{"queue"}, strings.Fields(args)...),
			Peer:    append([]string{"odp_queue_perf"}, strings.Fields(args+" -r "+count(x.peer*1e6/float64(w*x.burst)))...),
			Want:    x.want,
			Workers: w,
			Note:    noteTimed,
			read:    readODPTotal,
		})
	}
	return rows
}

func poolRows() (rows []Row) {
	for _, x := range []struct {
		id, work, args string
		events         float64 // in a round
		peer, want     float64
	}{
		{"buffer-single-c1", "buffers, single calls, 1 worker", "-c 1 -t 0 -e 16384 -b 0", 1, 88, 2},
		{"buffer-b1-c1", "buffers, burst 1, 1 worker", "-c 1 -t 0 -e 16384 -b 1", 1, 62, 0},
		{"buffer-b32-c1", "buffers, burst 32, 1 worker", "-c 1 -t 0 -e 16384 -b 32", 32, 1177, 2},
		{"buffer-spill-c1", "buffers, 16 bursts of 32 (more than a cache), 1 worker", "-c 1 -t 0 -e 16384 -b 32 -n 16", 512, 310, 2.5},
		{"buffer-nocache-c1", "buffers, burst 32, no cache, 1 worker", "-c 1 -t 0 -e 16384 -b 32 -C 0", 32, 226, 0},
		{"buffer-b32-c2", "buffers, burst 32, 2 workers", "-c 2 -t 0 -e 16384 -b 32", 32, 1581, 0},
		{"buffer-spill-c2", "buffers, 16 bursts of 32 (more than a cache), 2 workers", "-c 2 -t 0 -e 16384 -b 32 -n 16", 512, 198, 3},
		{"packet-b1-c1", "packets, burst 1, 1 worker", "-c 1 -t 1 -e 8192 -b 1", 1, 43, 1.5},
		{"packet-b32-c1", "packets, burst 32, 1 worker", "-c 1 -t 1 -e 8192 -b 32", 32, 166, 1.5},
		{"packet-spill-c1", "packets, 16 bursts of 32 (more than a cache), 1 worker", "-c 1 -t 1 -e 8192 -b 32 -n 16", 512, 104, 0},
		{"packet-b32-c2", "packets, burst 32, 2 workers", "-c 2 -t 1 -e 8192 -b 32", 32, 271, 0},
	} {
		w := 1 + strings.Count(x.args, "-c 2")
		args := strings.Fields(x.args + " -s 64")
		rows = append(rows, Row{
			ID:      "pool-" + x.id,
			Work:    "pool, " + x.work,
			Ours:    append([]string{"pool"}, args...),
			Peer:    append(append([]string{"odp_pool_perf"}, args...), "-r", count(x.peer*1e6/x.events/float64(w))),
			Want:    x.want,
			Workers: w,
			Note:    noteTimed,
			read:    readODPTotal,
		})
	}
	return rows
}

func l2fwdRows() (rows []Row) {
	for _, x := range []struct {
		id, work, args string
		mode, workers  int
		want           float64
	}{
		{"burst-c1", "burst mode, 1 worker", "", 0, 1, 3},
		{"parallel-c1", "parallel, 1 worker", "", 1, 1, 2.5},
		{"atomic-c1", "atomic, 1 worker", "", 2, 1, 2.5},
		{"ordered-c1", "ordered, 1 worker", "", 3, 1, 2.5},
		{"burst-self-c2", "burst mode, each device back to itself, 2 workers", "-O %s", 0, 2, 3},
		{"parallel-self-c2", "parallel, each device back to itself, 2 workers", "-O %s", 1, 2, 8},
		{"atomic-self-c2", "atomic, each device back to itself, 2 workers", "-O %s", 2, 2, 3},
		{"ordered-self-c2", "ordered, each device back to itself, 2 workers", "-O %s", 3, 2, 5},
		{"burst-pingpong-c2", "burst mode, between the devices, 2 workers", "", 0, 2, 2.5},
		{"atomic-pingpong-c2", "atomic, between the devices, 2 workers", "", 2, 2, 2},
	} {
		args := func(devices, self string) []string {
			a := fmt.Sprintf("-i %s -m %d -c %d ", devices, x.mode, x.workers)
			if x.args != "" {
				a += fmt.Sprintf(x.args, self)
			}
			return strings.Fields(a)
		}
		rows = append(rows, Row{
			ID:      "l2fwd-" + x.id,
			Work:    "l2fwd over two loops, " + x.work,
			Ours:    append([]string{"l2fwd"}, args("loop:1?seed=512,loop:2?seed=512", "0,1")...),
			Peer:    append(append([]string{"odp_l2fwd"}, args("loop1,loop2", "loop1,loop2")...), "-t", "2"),
			Env:     []string{"INJECT=512"},
			Want:    x.want,
			Workers: x.workers,
			Changed: changeInject,
			Note:    noteL2fwd,
			read:    readL2fwd,
		})
	}
	return rows
}

func latencyRows() (rows []Row) {
	for _, w := range []int{1, 2} {
		for t, sync := range syncNames {
			args := strings.Fields(fmt.Sprintf("-c %d -s %d -d 2", w, t))
			rows = append(rows, Row{
				ID:      fmt.Sprintf("latency-%s-c%d", sync, w),
				Work:    fmt.Sprintf("scheduling latency of a high priority event under load, average, %s, %s", sync, plural(w, "worker")),
				Ours:    append([]string{"latency"}, args...),
				Peer:    append([]string{"odp_sched_latency"}, args...),
				Unit:    Nanoseconds,
				Pick:    "high",
				Want:    0.9,
				Workers: w,
				Note:    "64 low and 16 high priority queues, 2048 events; both read the time stamp counter",
				read:    readLatency,
			})
		}
	}
	return rows
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
