// SPDX-License-Identifier: Apache-2.0

// Package cli is what the commands of odp share: the table of commands, options and
// help, the two kinds of failure with their exit statuses, and an output that remembers
// that it broke.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// Exit statuses.
const (
	OK     = 0
	Failed = 1 // what was asked for was done and came out bad, or could not be done
	Misuse = 2 // the command line is wrong
)

// Command is one command of the program.
type Command struct {
	Name  string
	Short string // one line, for the list of commands
	// Run is the command. What it returns goes to the standard error, and decides the
	// exit status: nil, a UsageError, or anything else.
	Run func(ctx context.Context, args []string, stdout, stderr io.Writer) error
}

// UsageError is a mistake on the command line.
type UsageError struct{ Msg string }

func (e *UsageError) Error() string { return e.Msg }

// Usage makes a UsageError.
func Usage(format string, a ...any) error { return &UsageError{fmt.Sprintf(format, a...)} }

// ErrTold ends a command with status 1 when everything was said already.
var ErrTold = errors.New("told already")

// Status maps what a command returned to the exit status.
func Status(err error) int {
	var u *UsageError
	switch {
	case err == nil:
		return OK
	case errors.As(err, &u):
		return Misuse
	}
	return Failed
}

// Out is the standard output of a command: it remembers the first error.
type Out struct {
	W   io.Writer
	err error
}

func (o *Out) Write(b []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.W.Write(b)
	o.err = err
	return n, err
}

// Run finds the command that args name, runs it and returns the exit status. An
// output that could not be written in full is a failure.
func Run(ctx context.Context, name string, commands []Command, args []string, stdout, stderr io.Writer) int {
	out := &Out{W: stdout}
	err := dispatch(ctx, name, commands, args, out, stderr)
	if err == nil && out.err != nil {
		err = fmt.Errorf("the output could not be written: %w", out.err)
	}
	if err != nil && !errors.Is(err, ErrTold) {
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
	}
	return Status(err)
}

func dispatch(ctx context.Context, name string, commands []Command, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		help(name, commands, stderr)
		return Usage("no command given")
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		if len(args) == 1 {
			help(name, commands, stdout)
			return nil
		}
		args = []string{args[1], "-h"}
	}
	for _, c := range commands {
		if c.Name == args[0] {
			if err := c.Run(ctx, args[1:], stdout, stderr); err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
			return nil
		}
	}
	var names []string
	for _, c := range commands {
		names = append(names, c.Name)
	}
	return Usage("there is no command %q: the commands are %s and help", args[0], strings.Join(names, ", "))
}

func help(name string, commands []Command, w io.Writer) {
	fmt.Fprintf(w, "usage: %s COMMAND [options]\n\n", name)
	for _, c := range commands {
		fmt.Fprintf(w, "  %-10s %s\n", c.Name, c.Short)
	}
	fmt.Fprintf(w, "  %-10s %s\n", "help", "this list; with the name of a command: its options")
	fmt.Fprintf(w, "\nThe exit status is 0, 1 when something failed, 2 when the command line is wrong.\n")
}

// Parse parses the options of a command. usage is printed by -h before the list of
// options; done is true when it was. Errors are UsageErrors.
func Parse(fs *flag.FlagSet, usage string, args []string, stdout io.Writer) (done bool, err error) {
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(stdout, "%s\n\n", strings.TrimSpace(usage))
		fs.SetOutput(stdout)
		fs.PrintDefaults()
		return true, nil
	case err != nil:
		return false, Usage("%v (see -h)", err)
	}
	if fs.NArg() > 0 {
		return false, Usage("unexpected argument %q: every option starts with '-' (see -h)", fs.Arg(0))
	}
	return false, nil
}
