// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/odp-go/godp/cmd/odp/internal/bench"
)

var (
	odpTotal   = regexp.MustCompile(`(?m)^TOTAL events per sec:\s+([0-9.]+) M\s*$`)
	odpPerThr  = regexp.MustCompile(`(?m)^RESULTS - per thread \(Million events per sec\):\n-+\n([ 0-9]+)\n([ 0-9.\n]+)`)
	l2fwdLine  = regexp.MustCompile(`(?m)^([0-9]+) pps, [0-9]+ max pps, `)
	l2fwdWork  = regexp.MustCompile(`(?m)^Num worker threads:\s+([0-9]+)`)
	pmdTxPps   = regexp.MustCompile(`(?m)^\s*Tx-pps:\s+([0-9]+)`)
	pmdPort    = regexp.MustCompile(`(?m)NIC statistics for port ([0-9]+)`)
	errNothing = errors.New("the peer's output has no result")
)

// readODPTotal reads what odp_sched_perf, odp_queue_perf and odp_pool_perf print.
func readODPTotal(out string) (r reading, err error) {
	m := odpTotal.FindStringSubmatch(out)
	if m == nil {
		return r, errNothing
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return r, err
	}
	r.value = v * 1e6
	// Ten threads a line, without their number.
	if t := odpPerThr.FindStringSubmatch(out); t != nil {
		r.workers = len(strings.Fields(t[2]))
	}
	return r, nil
}

// readL2fwd reads the last full second of odp_l2fwd.
func readL2fwd(out string) (r reading, err error) {
	lines := l2fwdLine.FindAllStringSubmatch(out, -1)
	if len(lines) == 0 {
		return r, errNothing
	}
	if r.value, err = strconv.ParseFloat(lines[len(lines)-1][1], 64); err != nil {
		return r, err
	}
	if m := l2fwdWork.FindStringSubmatch(out); m != nil {
		r.workers, err = strconv.Atoi(m[1])
	}
	return r, err
}

// readLatency reads the average of the high priority in odp_sched_latency's table.
func readLatency(out string) (r reading, err error) {
	_, high, ok := strings.Cut(out, "HIGH priority")
	if !ok {
		return r, errNothing
	}
	high, _, _ = strings.Cut(high, "LOW priority")
	for line := range strings.Lines(high) {
		f := strings.Fields(line)
		if len(f) < 4 {
			continue
		}
		if _, err := strconv.Atoi(f[0]); err == nil {
			r.workers++
		}
		if f[0] == "Total" {
			r.value, err = strconv.ParseFloat(f[1], 64)
			return r, err
		}
	}
	return r, errNothing
}

// readTestpmd adds up the Tx-pps of the ports, for each the median of those that testpmd
// printed every second: the first is since the start, the last of a part of a second.
func readTestpmd(out string) (r reading, err error) {
	ports := pmdPort.FindAllStringSubmatch(out, -1)
	rates := pmdTxPps.FindAllStringSubmatch(out, -1)
	told := map[string][]float64{}
	for i := range min(len(ports), len(rates)) {
		v, err := strconv.ParseFloat(rates[i][1], 64)
		if err != nil {
			return r, err
		}
		told[ports[i][1]] = append(told[ports[i][1]], v)
	}
	for p, v := range told {
		if len(v) < 3 {
			return r, fmt.Errorf("testpmd told the rate of port %s %d times, three are needed", p, len(v))
		}
		r.value += bench.SpreadOf(v[1 : len(v)-1]).Median
	}
	if r.value == 0 {
		return r, errNothing
	}
	return r, nil
}

// readAfter reads the number behind a label and a colon: what dpdk-test prints in cycles.
func readAfter(label string) func(out string) (reading, error) {
	re := regexp.MustCompile(regexp.QuoteMeta(label) + `:\s*([0-9.]+) cycles`)
	return func(out string) (r reading, err error) {
		m := re.FindStringSubmatch(out)
		if m == nil {
			return r, errNothing
		}
		r.value, err = strconv.ParseFloat(m[1], 64)
		return r, err
	}
}
