// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"io"

	"github.com/odp-go/godp/platform/netmap/nmsim"
)

// result is one run, as -json prints it. A pointer is null where the value
// can't be known: only far ends that compute their frames can tell what was lost.
type result struct {
	Mode          string            `json:"mode"`
	Lock          string            `json:"lock"`
	Workers       int               `json:"workers"`
	Interfaces    []string          `json:"interfaces"`
	Seconds       float64           `json:"seconds"`
	Packets       uint64            `json:"packets"`
	PPSAvg        float64           `json:"pps_avg"`
	PPSMax        float64           `json:"pps_max"`
	RxDrops       uint64            `json:"rx_drops"`
	TxDrops       uint64            `json:"tx_drops"`
	DropsByReason map[string]uint64 `json:"drops_by_reason"`
	MeanBurst     float64           `json:"mean_burst"`
	EmptyPolls    uint64            `json:"empty_polls"`
	Lost          *uint64           `json:"lost"`
	Reordered     *uint64           `json:"reordered"`
	Corrupt       *uint64           `json:"corrupt"`
	ZeroCopy      bool              `json:"zero_copy"`
	PoolLeaked    int               `json:"pool_leaked"`
	Idle          string            `json:"idle"`

	far *nmsim.Report // what the far ends saw, when all interfaces have them
}

// report is the one object that -json prints.
type report struct {
	Runs  []result `json:"runs"`
	Ratio *float64 `json:"ratio"` // queue mode / burst mode, null when both did not run
}

func (r report) print(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
