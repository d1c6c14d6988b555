// SPDX-License-Identifier: Apache-2.0

// Package opt is what the examples' command lines share: lists of interfaces,
// MAC addresses, forwarding modes, and the two kinds of failure with their exit status.
package opt

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
)

// Exit statuses of every example.
const (
	ExitOK    = 0
	ExitRun   = 1 // a run-time fault: device, memory, rights
	ExitUsage = 2 // the command line is wrong
)

// UsageError is a mistake on the command line.
type UsageError struct{ Msg string }

func (e *UsageError) Error() string { return e.Msg }

// Usage makes a UsageError.
func Usage(format string, a ...any) error { return &UsageError{fmt.Sprintf(format, a...)} }

// Status maps an error to the exit status.
func Status(err error) int {
	var u *UsageError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &u):
		return ExitUsage
	}
	return ExitRun
}

// Exit prints err, if there is one, and returns the exit status: the end of every
// example's Main.
func Exit(name string, err error, stderr io.Writer) int {
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
	}
	return Status(err)
}

// Output keeps the first error of writing to w: a program whose result did not reach
// its reader has failed. Any goroutine may write.
type Output struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

// NewOutput makes an Output.
func NewOutput(w io.Writer) *Output { return &Output{w: w} }

// Write implements io.Writer.
func (o *Output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.w.Write(b)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// Join returns err with what went wrong with the output, unless err has it already.
func (o *Output) Join(err error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil || errors.Is(err, o.err) {
		return err
	}
	return errors.Join(err, fmt.Errorf("the output is not complete: %w", o.err))
}

// Interfaces splits a comma separated list of device names. A piece without a
// colon belongs to the name before it, so that a name may hold commas
// ("pcap:in=a.pcap,out=b.pcap,loop:0" is two names). option is the letter, for errors.
func Interfaces(option, list string) ([]string, error) {
	var names []string
	for i, piece := range splitList(list) {
		switch {
		case piece == "":
			return nil, Usage("-%s %q: an empty name (nothing given, two commas, or one at an end)", option, list)
		case strings.Contains(piece, ":") || i == 0:
			names = append(names, piece)
		default:
			names[len(names)-1] += "," + piece
		}
	}
	return names, nil
}

// splitList splits at the commas that are not within parentheses.
func splitList(list string) (out []string) {
	depth, from := 0, 0
	for i, c := range list {
		switch {
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case c == ',' && depth == 0:
			out = append(out, list[from:i])
			from = i + 1
		}
	}
	return append(out, list[from:])
}

// MACs parses a comma separated list of n MAC addresses.
func MACs(list string, n int) ([]net.HardwareAddr, error) {
	parts := strings.Split(list, ",")
	if len(parts) != n {
		return nil, Usage("%d MAC addresses given for %d interfaces: one for each, separated by commas", len(parts), n)
	}
	macs := make([]net.HardwareAddr, n)
	for i, p := range parts {
		m, err := net.ParseMAC(p)
		if err != nil || len(m) != 6 {
			return nil, Usage("%q is no MAC address: six bytes like 02:00:00:00:00:01", p)
		}
		macs[i] = m
	}
	return macs, nil
}

// Mode is how packets get from the receive side to a worker.
type Mode int

// The modes, numbered as odp_l2fwd -m numbers them.
const (
	Burst    Mode = iota // a worker receives bursts itself
	Parallel             // scheduled, no order
	Atomic               // scheduled, one worker at a time: "queue mode"
	Ordered              // scheduled, any worker, order restored
	Plain                // plain event queues
)

var modeNames = [...]string{"burst", "parallel", "atomic", "ordered", "plain"}

func (m Mode) String() string { return modeNames[m] }

// Scheduled reports whether the scheduler hands the packets out.
func (m Mode) Scheduled() bool { return m == Parallel || m == Atomic || m == Ordered }

// ParseMode accepts ODP's number, the name, or "queue" (= atomic).
func ParseMode(s string) (Mode, error) {
	if s == "queue" {
		return Atomic, nil
	}
	for i, n := range modeNames {
		if s == n || s == fmt.Sprint(i) {
			return Mode(i), nil
		}
	}
	return 0, Usage("-m %q: a mode is 0 (burst), 1 (parallel), 2 (atomic), 3 (ordered) or 4 (plain), or one of these names, or queue (= atomic)", s)
}

// Refuse registers options that the original has and we do not: using one is a
// usage error with the reason.
func Refuse(fs *flag.FlagSet, why map[string]string) {
	for name, reason := range why {
		fs.Var(refused{name, reason}, name, "not supported: "+reason)
	}
}

type refused struct{ name, why string }

func (r refused) String() string   { return "" }
func (r refused) IsBoolFlag() bool { return true } // it is refused with a value and without one
func (r refused) Set(string) error {
	return fmt.Errorf("-%s is not supported: %s", r.name, r.why)
}

// Parse parses args; help goes to out. done is true when help was asked for.
// Without a function for it, help lists the options. Errors are UsageErrors.
func Parse(fs *flag.FlagSet, args []string, out io.Writer, help func(io.Writer)) (done bool, err error) {
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		if help == nil {
			fmt.Fprintf(out, "%s [options]\n", fs.Name())
			fs.SetOutput(out)
			fs.PrintDefaults()
			return true, nil
		}
		help(out)
		return true, nil
	case err != nil:
		msg := err.Error()
		if i := strings.Index(msg, "is not supported: "); i >= 0 {
			msg = msg[strings.LastIndex(msg[:i], " -")+1:]
		}
		return false, Usage("%s (see -h)", msg)
	}
	if fs.NArg() > 0 {
		return false, Usage("unexpected argument %q: every option starts with '-' and letters are not joined (see -h)", fs.Arg(0))
	}
	return false, nil
}
