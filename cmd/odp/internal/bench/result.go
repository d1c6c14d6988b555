// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Param is one option of a benchmark as it counts.
type Param struct {
	Name  string
	Value any
}

// Params keeps its order in JSON.
type Params []Param

// MarshalJSON writes an object.
func (p Params) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, x := range p {
		if i > 0 {
			b.WriteByte(',')
		}
		v, err := json.Marshal(x.Value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", x.Name, v)
	}
	b.WriteByte('}')
	return []byte(b.String()), nil
}

func (p Params) String() string {
	var s []string
	for _, x := range p {
		s = append(s, fmt.Sprintf("%s %v", x.Name, x.Value))
	}
	return strings.Join(s, ", ")
}

// WorkerResult is one worker of the median repetition.
type WorkerResult struct {
	Worker       int     `json:"worker"`
	EventsPerSec float64 `json:"events_per_sec"`
	Seconds      float64 `json:"seconds"`
	Counts
	MeanBurst float64 `json:"mean_burst"`
}

// FunctionResult is one function of the call benchmarks.
type FunctionResult struct {
	Name   string `json:"name"`
	Cycles Spread `json:"cycles"` // per call, over the repetitions
	Ns     Spread `json:"ns"`
}

// Result is what "-json" prints. Rates are medians over the repetitions; min and max
// are the least and the largest events_per_sec.
type Result struct {
	Bench          string             `json:"bench"`
	Params         Params             `json:"params"`
	EventsPerSec   float64            `json:"events_per_sec"`
	CyclesPerEvent float64            `json:"cycles_per_event"`
	NsPerEvent     float64            `json:"ns_per_event"`
	Min            float64            `json:"min"`
	Max            float64            `json:"max"`
	Repetitions    int                `json:"repetitions"`
	MeanBurst      float64            `json:"mean_burst"`
	CPUShare       float64            `json:"cpu_share"`        // least share of the time that a worker had its CPU, of all repetitions
	Shares         *Shares            `json:"shares,omitempty"` // the worst repetition; with two workers and more
	Workers        []WorkerResult     `json:"workers,omitempty"`
	Extra          map[string]Spread  `json:"extra,omitempty"`
	Functions      []FunctionResult   `json:"functions,omitempty"`
	Latency        []LatencyResult    `json:"latency,omitempty"`
	Memory         map[string]float64 `json:"memory,omitempty"`
	Machine        Machine            `json:"machine"`
	Version        string             `json:"version"`
}

// rates are the figures of one repetition, by the originals' definitions.
func (r *Rep) rates() (perSec, cyclesPer, burst float64) {
	var events, cyc, calls float64
	for _, m := range r.Workers {
		events += float64(m.Count.Events)
		cyc += float64(m.End - m.Start)
		calls += float64(m.Count.Calls)
	}
	if events == 0 || cyc == 0 {
		return 0, 0, 0
	}
	mean := cyc / float64(len(r.Workers))
	if calls > 0 {
		burst = events / calls
	}
	return events / toNs(uint64(mean)) * 1e9, cyc / events, burst
}

// report makes the result of the repetitions.
func report(name string, com *Common, p Params, reps []*Rep) *Result {
	res := &Result{Bench: name, Params: p, Repetitions: len(reps), Machine: ThisMachine(), Extra: map[string]Spread{}, CPUShare: 1}
	var rate, cyc, burst []float64
	extra := map[string][]float64{}
	for _, r := range reps {
		e, c, b := r.rates()
		rate, cyc, burst = append(rate, e), append(cyc, c), append(burst, b)
		res.CPUShare = min(res.CPUShare, cpuShare(r.Workers))
		for k, v := range r.Extra {
			extra[k] = append(extra[k], v)
		}
		if com.Workers > 1 {
			s := shares(r.Workers)
			if res.Shares == nil || s.Least < res.Shares.Least || s.Least == res.Shares.Least && s.Uneven > res.Shares.Uneven {
				res.Shares = &s
			}
		}
	}
	for k, v := range extra {
		res.Extra[k] = SpreadOf(v)
	}
	s := SpreadOf(rate)
	res.EventsPerSec, res.Min, res.Max = s.Median, s.Min, s.Max
	res.CyclesPerEvent = SpreadOf(cyc).Median
	res.NsPerEvent = res.CyclesPerEvent / cyclesPerNs()
	res.MeanBurst = SpreadOf(burst).Median
	res.Workers = workerTable(nearest(reps, rate, s.Median))
	return res
}

// nearest returns the repetition whose rate is nearest to the median.
func nearest(reps []*Rep, rate []float64, median float64) *Rep {
	best := 0
	for i := range reps {
		if d, b := rate[i]-median, rate[best]-median; d*d < b*b {
			best = i
		}
	}
	return reps[best]
}

func workerTable(r *Rep) (t []WorkerResult) {
	for i, m := range r.Workers {
		sec := toNs(m.End-m.Start) / 1e9
		w := WorkerResult{Worker: i, Seconds: sec, Counts: m.Count}
		if sec > 0 {
			w.EventsPerSec = float64(m.Count.Events) / sec
		}
		if m.Count.Calls > 0 {
			w.MeanBurst = float64(m.Count.Events) / float64(m.Count.Calls)
		}
		t = append(t, w)
	}
	return t
}

// write prints the result, as JSON or as text.
func (res *Result) write(out io.Writer, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(res)
	}
	_, err := io.WriteString(out, res.text())
	return err
}

// LatencyResult is one line of the latency table.
type LatencyResult struct {
	Priority string  `json:"priority"`
	Thread   string  `json:"thread"`
	Avg      float64 `json:"avg_ns"`
	Min      float64 `json:"min_ns"`
	Max      float64 `json:"max_ns"`
	Samples  uint64  `json:"samples"`
	Events   uint64  `json:"events"`
}
