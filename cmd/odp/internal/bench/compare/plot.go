// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// advantage is how many times better ours is: the ratio, or its inverse in ns and cycles.
func (o *Outcome) advantage(r float64) float64 {
	if o.unit() != PerSecond && r > 0 {
		return 1 / r
	}
	return r
}

// wanted is the wanted ratio as an advantage, 0 = none.
func (o *Outcome) wanted() float64 {
	var v float64
	if _, err := fmt.Sscanf(strings.TrimLeft(o.Want, "<>= "), "%g", &v); err != nil {
		return 0
	}
	return o.advantage(v)
}

// measured returns the rows with results.
func (r *Report) measured() (rows []*Outcome) {
	for i := range r.Rows {
		if o := &r.Rows[i]; len(o.Pairs) > 0 && o.Failed == "" {
			rows = append(rows, o)
		}
	}
	return rows
}

// axis returns the ends of a logarithmic axis for the rows: powers of two.
func axis(rows []*Outcome) (lo, hi float64) {
	lo, hi = 0.5, 2
	for _, o := range rows {
		for _, v := range [...]float64{o.advantage(o.Ratio.Min), o.advantage(o.Ratio.Max), o.wanted()} {
			if v > 0 && !math.IsInf(v, 0) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	return math.Exp2(math.Floor(math.Log2(lo))), math.Exp2(math.Ceil(math.Log2(hi)))
}

// Text is the plot for a terminal: a line for each row, on a logarithmic scale.
//
//	sched-q16-b32-c1-atomic   |     :    ---#--  w
//
// The colon is at 1, # the median, - from least to largest, w what is wanted.
func (r *Report) Text() string {
	const width = 60
	rows := r.measured()
	if len(rows) == 0 {
		return ""
	}
	lo, hi := axis(rows)
	at := func(v float64) int {
		x := math.Log2(v/lo) / math.Log2(hi/lo) * (width - 1)
		return min(max(int(x+0.5), 0), width-1)
	}
	longest := 0
	for _, o := range rows {
		longest = max(longest, len(o.ID))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-*s  times faster than the peer, %g to %g, logarithmic; : = 1, # median, - spread, w wanted\n", longest, "", lo, hi)
	for _, o := range rows {
		line := []byte(strings.Repeat(" ", width))
		line[at(1)] = ':'
		a, z := at(o.advantage(o.Ratio.Min)), at(o.advantage(o.Ratio.Max))
		for i := min(a, z); i <= max(a, z); i++ {
			line[i] = '-'
		}
		if w := o.wanted(); w > 0 {
			line[at(w)] = 'w'
		}
		line[at(o.advantage(o.Ratio.Median))] = '#'
		fmt.Fprintf(&b, "%-*s |%s| %6.2f %s\n", longest, o.ID, line, o.Ratio.Median, o.verdict())
	}
	return b.String()
}

// SVG is the same plot as a picture.
func (r *Report) SVG() string {
	const (
		left, right, top, row = 250, 90, 46, 18
		plot                  = 560
	)
	rows := r.measured()
	lo, hi := axis(rows)
	x := func(v float64) float64 { return left + plot*math.Log2(v/lo)/math.Log2(hi/lo) }
	height := top + row*len(rows) + 20
	var b strings.Builder
	p := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	p(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`, left+plot+right, height)
	p(`<title>Times faster than the peer</title>`)
	p(`<rect width="%d" height="%d" fill="#fff"/>`, left+plot+right, height)
	p(`<text x="%d" y="16" font-size="13">times faster than the peer (logarithmic): median, least to largest; | = wanted</text>`, left)
	for v := lo; v <= hi*1.001; v *= 2 {
		colour := "#ddd"
		if v == 1 {
			colour = "#555"
		}
		p(`<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="%s"/>`, x(v), top-8, x(v), height-14, colour)
		p(`<text x="%.1f" y="%d" text-anchor="middle" fill="#555">%g</text>`, x(v), top-12, v)
	}
	for i, o := range rows {
		y := top + row*i + row/2
		colour := "#888"
		if o.Met != nil {
			if colour = "#b03a2e"; *o.Met {
				colour = "#1e7b4b"
			}
		}
		a, z := x(o.advantage(o.Ratio.Min)), x(o.advantage(o.Ratio.Max))
		p(`<text x="%d" y="%d" text-anchor="end">%s</text>`, left-8, y+4, html.EscapeString(o.ID))
		p(`<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="%s" stroke-width="3" stroke-opacity=".45"/>`, min(a, z), y, max(a, z), y, colour)
		p(`<circle cx="%.1f" cy="%d" r="4" fill="%s"/>`, x(o.advantage(o.Ratio.Median)), y, colour)
		if w := o.wanted(); w > 0 {
			p(`<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#222" stroke-width="2"/>`, x(w), y-6, x(w), y+6)
		}
		p(`<text x="%d" y="%d">%s</text>`, left+plot+8, y+4, ratio(o.Ratio.Median))
	}
	p(`</svg>`)
	return b.String()
}
