// SPDX-License-Identifier: Apache-2.0

// Package nic is what the drivers for real interfaces share: errors that say what to
// do, and on Linux the questions that a driver asks about an interface.
package nic

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/odp-go/godp/queue"
)

// Error is what a control operation ended with: what was tried, on what, what the
// system said, what that means, and what to do. errors.Is finds the errno.
type Error struct {
	Op     string // "bind", "set PACKET_RX_RING"
	Device string // with its prefix
	Err    error  // what the system said; nil when the driver found the reason itself
	Why    string // what was found
	Cure   string // what is allowed, or the command to run
}

func (e *Error) Error() string {
	s := e.Device + ": " + e.Op + ": "
	switch {
	case e.Why != "" && e.Err != nil:
		s += fmt.Sprintf("%s (%v)", e.Why, e.Err)
	case e.Why != "":
		s += e.Why
	case e.Err != nil:
		s += e.Err.Error()
	}
	if e.Cure != "" {
		s += "; " + e.Cure
	}
	return s
}

// Unwrap gives what the system said.
func (e *Error) Unwrap() error { return e.Err }

// Fault is what the burst calls of a faulted device return. It wraps
// queue.ErrFaulted.
type Fault struct {
	Device string
	Why    string
	Err    error
}

func (f *Fault) Error() string {
	s := f.Device + ": " + f.Why
	if f.Err != nil {
		s += fmt.Sprintf(" (%v)", f.Err)
	}
	return s + "; close the port and open it again"
}

// Unwrap makes errors.Is(err, queue.ErrFaulted) true, and finds the errno.
func (f *Fault) Unwrap() []error {
	if f.Err == nil {
		return []error{queue.ErrFaulted}
	}
	return []error{queue.ErrFaulted, f.Err}
}

// Gate is asked before each system call of an Open and fails it by answering an
// error; nil lets all pass. It is how tests make every call fail once.
type Gate func(call string) error

// Do makes a call unless the gate is closed for it. EINTR is tried again.
func (g Gate) Do(call string, f func() error) error {
	if g != nil {
		if err := g(call); err != nil {
			return err
		}
	}
	for {
		if err := f(); err != syscall.EINTR {
			return err
		}
	}
}

// Denied reports whether the system refused for want of rights.
func Denied(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES)
}
