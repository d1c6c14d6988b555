// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
)

// result is what a run on real interfaces tells.
type result struct {
	Seconds float64           `json:"seconds"`
	Packets uint64            `json:"packets"`
	Sent    uint64            `json:"sent"`
	Refused uint64            `json:"refused"`
	Drops   map[string]uint64 `json:"drops"`
	Mpps    float64           `json:"mpps"`
	Burst   float64           `json:"mean_burst"`
	Routes4 int               `json:"ipv4_routes"`
	Routes6 int               `json:"ipv6_routes"`
	Skipped int               `json:"routes_not_installed"`
}

func (r *router) result(c counts) result {
	res := result{Seconds: r.ran.Seconds(), Packets: c.packets, Sent: c.sent, Refused: c.refused, Drops: map[string]uint64{},
		Routes4: len(r.o.routes4), Routes6: len(r.o.routes6), Skipped: r.t.skipped}
	for i, n := range c.drops {
		res.Drops[dropNames[i]] = n
	}
	if c.bursts > 0 {
		res.Burst = float64(c.packets) / float64(c.bursts)
	}
	if r.ran > 0 {
		res.Mpps = float64(c.sent) / r.ran.Seconds() / 1e6
	}
	return res
}

func (r *router) print(c counts) {
	res := r.result(c)
	r.say("%d packets came, %d were sent, %d refused by an output; mean burst %.1f; %.3f Mpps\n", c.packets, c.sent, c.refused, res.Burst, res.Mpps)
	for i, n := range c.drops {
		if n > 0 {
			r.say("dropped, %s: %d\n", dropNames[i], n)
		}
	}
}

func printJSON(w io.Writer, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", b)
	return err
}
