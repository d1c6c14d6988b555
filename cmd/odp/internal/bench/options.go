// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/odp-go/godp/cmd/odp/internal/cli"
)

// addCommon registers the options that every benchmark has.
func addCommon(fs *flag.FlagSet, c *Common) {
	fs.IntVar(&c.Workers, "c", 1, "`workers`; 0 = one for each CPU")
	addRun(fs, c)
}

// addRun registers the options about the run itself.
func addRun(fs *flag.FlagSet, c *Common) {
	fs.IntVar(&c.Reps, "reps", 5, "repetitions; the report is their median, min and max")
	fs.DurationVar(&c.Time, "time", 300*time.Millisecond, "length of a repetition that no count ends")
	fs.DurationVar(&c.Warmup, "warmup", 50*time.Millisecond, "warm-up before each repetition, not measured")
	fs.IntVar(&c.Nice, "nice", 0, "nice value of the workers; 0 = unchanged")
	fs.BoolVar(&c.JSON, "json", false, "print the result as JSON")
	fs.BoolVar(&c.Short, "short", false, "one short repetition: shows that it works, its figures mean nothing")
	fs.StringVar(&c.CPUProfile, "cpuprofile", "", "write a CPU profile to `file`, warm-up included")
}

func (c *Common) check() error {
	if c.Short {
		c.Reps, c.Time, c.Warmup = 1, 5*time.Millisecond, time.Millisecond
	}
	if c.Workers == 0 {
		c.Workers = numCPU()
	}
	return firstErr(
		within("c", c.Workers, 1, 64),
		within("reps", c.Reps, 1, 10000),
		within("nice", c.Nice, -20, 19),
		when(c.Time < time.Millisecond || c.Time > time.Hour, "-time %v: 1ms to 1h", c.Time),
		when(c.Warmup < 0 || c.Warmup > time.Minute, "-warmup %v: 0 to 1m", c.Warmup),
	)
}

// within refuses v outside lo to hi.
func within(option string, v, lo, hi int) error {
	return when(v < lo || v > hi, "-%s %d: %d to %d", option, v, lo, hi)
}

// when returns a usage error if bad is true.
func when(bad bool, format string, a ...any) error {
	if !bad {
		return nil
	}
	return cli.Usage(format, a...)
}

func firstErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// choice is an option that is one of some words, or the number of the word as the
// original has it.
type choice struct {
	v     *int
	first int // number of the first word
	words []string
}

// addChoice registers a choice; def is a number.
func addChoice(fs *flag.FlagSet, v *int, name string, def, first int, usage string, words ...string) {
	*v = def
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = fmt.Sprintf("%d or %s", first+i, w)
	}
	fs.Var(&choice{v, first, words}, name, usage+": "+strings.Join(list, ", "))
}

func (c *choice) String() string {
	if c.v == nil {
		return ""
	}
	return c.words[*c.v-c.first]
}

func (c *choice) Set(s string) error {
	for i, w := range c.words {
		if s == w || s == strconv.Itoa(c.first+i) {
			*c.v = c.first + i
			return nil
		}
	}
	return fmt.Errorf("one of %s, or the number %d to %d", strings.Join(c.words, ", "), c.first, c.first+len(c.words)-1)
}

// refuse registers options that the original has and we do not.
func refuse(fs *flag.FlagSet, why map[string]string) {
	for name, reason := range why {
		fs.Var(refused(reason), name, "not here: "+reason)
	}
}

type refused string

func (refused) String() string       { return "" }
func (r refused) Set(s string) error { return fmt.Errorf("not here: %s", string(r)) }
