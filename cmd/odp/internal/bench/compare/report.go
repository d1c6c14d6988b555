// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/odp-go/godp/cmd/odp/internal/bench"
)

// Report is a comparison: what compare.json holds.
type Report struct {
	Machine bench.Machine `json:"machine"`
	Peers   []PeerVersion `json:"peers"`
	Rows    []Outcome     `json:"rows"`
}

// PeerVersion says what a peer is.
type PeerVersion struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// unit of an outcome.
func (o *Outcome) unit() Unit {
	for u := PerSecond; u <= Cycles; u++ {
		if o.Unit == u.String() {
			return u
		}
	}
	return PerSecond
}

// verdict is one word for a row.
func (o *Outcome) verdict() string {
	switch {
	case o.Absent != "":
		return o.Absent + " absent"
	case o.Failed != "":
		return "failed"
	case o.Met == nil:
		return "stated"
	case *o.Met && o.Valid:
		return "met"
	case *o.Met:
		return "met, unevenly shared"
	}
	return "not met"
}

// Add merges rows into the report: a row that was measured again replaces the old one.
// The order is that of the table.
func (r *Report) Add(rows []Outcome) {
	for _, o := range rows {
		if i := slices.IndexFunc(r.Rows, func(x Outcome) bool { return x.ID == o.ID }); i >= 0 {
			r.Rows[i] = o
		} else {
			r.Rows = append(r.Rows, o)
		}
	}
	place := map[string]int{}
	for i, row := range Rows() {
		place[row.ID] = i + 1
	}
	slices.SortStableFunc(r.Rows, func(a, b Outcome) int { return place[a.ID] - place[b.ID] })
}

// Load reads compare.json of a directory; an absent one is an empty report.
func Load(dir string) (r Report, err error) {
	b, err := os.ReadFile(filepath.Join(dir, "compare.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	return r, err
}

// Save writes compare.json, compare.md and compare.svg into a directory.
func (r *Report) Save(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	for name, data := range map[string]string{"compare.json": string(b) + "\n", "compare.md": r.Markdown(), "compare.svg": r.SVG()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// spread prints a figure with its spread.
func spread(u Unit, s bench.Spread) string {
	return fmt.Sprintf("%s (%s–%s)", u.format(s.Median), u.format(s.Min), u.format(s.Max))
}

func ratio(v float64) string { return fmt.Sprintf("%.2f", v) }

// Markdown is the table.
func (r *Report) Markdown() string {
	var b strings.Builder
	p := func(format string, a ...any) { fmt.Fprintf(&b, format, a...) }
	p("<!-- SPDX-License-Identifier: Apache-2.0 -->\n<!-- written by odp bench compare -->\n# Beside the peers\n\n")
	p("%s.\n\n", r.Machine)
	for _, x := range r.Peers {
		p("- %s: %s\n", x.Name, x.Version)
	}
	p("\nOurs and the peer's program ran in turn, each time a process of its own. Figures are medians with least and largest; the ratio is that of each pair, " +
		"ours / peer. Rows in M/s: millions of events or packets a second, of all workers together. How to repeat it: [bench.md](../bench.md).\n\n")
	p("![plot](compare.svg)\n\n")
	p("| row | work | ours | peer | ratio | wanted | |\n|---|---|---|---|---|---|---|\n")
	notes := noteList{}
	for i := range r.Rows {
		o := &r.Rows[i]
		if len(o.Pairs) == 0 || o.Failed != "" {
			p("| %s | %s | | | | %s | %s |\n", o.ID, o.Work, o.Want, o.verdict())
			continue
		}
		p("| %s | %s%s | %s | %s | **%s** (%s–%s) | %s | %s%s |\n", o.ID, o.Work, notes.marks(o), spread(o.unit(), o.Ours), spread(o.unit(), o.Peer),
			ratio(o.Ratio.Median), ratio(o.Ratio.Min), ratio(o.Ratio.Max), o.Want, o.verdict(), o.quality())
	}
	p("\n%s", notes.text())
	p("\nUnits: M/s; ns in the rows about latency and cycles of the time stamp counter in those about look-ups, where less is better.\n")
	if f := r.failures(); f != "" {
		p("\n## Not measured\n\n%s", f)
	}
	p("\n## Commands\n\n| row | ours | peer | pairs | version | when |\n|---|---|---|---|---|---|\n")
	for i := range r.Rows {
		o := &r.Rows[i]
		p("| %s | `%s` | `%s` | %d | %s | %s |\n", o.ID, o.OursCmd, o.PeerCmd, len(o.Pairs), o.Version, o.Time.Format(time.RFC3339))
	}
	return b.String()
}

// quality says what a reader must know of the run.
func (o *Outcome) quality() string {
	var s string
	if o.Shares != nil {
		s += fmt.Sprintf("; least worker %.0f %%, in 10 ms %.0f %%", 100*o.Shares.Least, 100*o.Shares.LeastIn10ms)
	}
	if o.CPU < 0.97 {
		s += fmt.Sprintf("; machine not quiet: a worker had its CPU for %.0f %%", 100*o.CPU)
	}
	return s
}

// failures lists the rows of which there is no result, with the reason.
func (r *Report) failures() string {
	var b strings.Builder
	for i := range r.Rows {
		o := &r.Rows[i]
		switch {
		case o.Absent != "":
			fmt.Fprintf(&b, "- %s: the peer's program %s was not found\n", o.ID, o.Absent)
		case o.Failed != "":
			fmt.Fprintf(&b, "- %s: %s\n", o.ID, strings.ReplaceAll(o.Failed, "\n", " "))
		}
	}
	return b.String()
}

// noteList numbers the notes: each stands once under the table.
type noteList struct{ texts []string }

func (n *noteList) number(text string) int {
	i := slices.Index(n.texts, text)
	if i < 0 {
		i = len(n.texts)
		n.texts = append(n.texts, text)
	}
	return i + 1
}

// marks returns the numbers of a row's notes.
func (n *noteList) marks(o *Outcome) string {
	var m []string
	if o.Changed != "" {
		for _, c := range strings.Split(o.Changed, "; ") {
			m = append(m, fmt.Sprint(n.number("The peer is changed: "+c)))
		}
	}
	if o.Note != "" {
		m = append(m, fmt.Sprint(n.number(o.Note)))
	}
	if len(m) == 0 {
		return ""
	}
	return " [" + strings.Join(m, ", ") + "]"
}

func (n *noteList) text() string {
	var b strings.Builder
	for i, t := range n.texts {
		fmt.Fprintf(&b, "[%d] %s.\n\n", i+1, strings.ToUpper(t[:1])+t[1:])
	}
	return b.String()
}
