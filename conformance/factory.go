// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"slices"
	"syscall"
	"time"

	"github.com/odp-go/godp/odp"
)

// Capability names something that a platform may lack. The text is what a report
// shows.
type Capability string

// Factory describes the platform under test.
type Factory struct {
	// Name is for reports.
	Name string
	// Open opens an instance; nil = odp.Open.
	Open func(ctx context.Context, cfg odp.Config) (*odp.Instance, error)
	// Single is the name of a device that receives what it sends; "" = there is none.
	Single string
	// Pair are the names of two devices that are connected to each other; "" = there
	// are none.
	Pair [2]string
	// Caps is what the platform can do of that which not every platform can.
	// CapSingle and CapPair follow from the names above.
	Caps []Capability
	// Skips are the expected skips: id of the case and the capability that it is
	// skipped for. nil = there is no list yet: skips are reported and not judged.
	Skips map[string]Capability

	// SetLink takes the link of a device, named as in Single or Pair, down or up, while
	// it is open: the cable out and in, or the interface down and up. nil: the tests can't.
	SetLink func(device string, up bool) error
	// SetOffload switches an offload of the device's interface on or off that a
	// dataplane must be warned of (segmentation, checksums). nil: the tests can't.
	SetOffload func(device string, on bool) error
	// Faults makes system calls under the devices fail. nil: the tests can't.
	Faults *Faults

	ops      *ops          // nil = the real ones; set by tests that break the implementation
	patience time.Duration // 0 = Patience; shorter in these tests
}

// Faults makes system calls under the devices fail.
type Faults struct {
	// Fail makes the k-th call from now (1 = the next) fail with e, once; 0 takes it back.
	Fail func(k int, e syscall.Errno)
	// Pending reports whether the call of Fail did not come yet.
	Pending func() bool
	// Left says what the devices that are closed have not given back, "" = nothing.
	Left func() string
}

// The capabilities that follow from the names of the devices and the hooks.
const (
	CapDevice     Capability = "a device"
	CapSetLink    Capability = "a way to take the link down"
	CapSetOffload Capability = "a way to switch an offload on"
	CapFaults     Capability = "a way to make system calls fail"
	CapSingle     Capability = "a device that loops back"
	CapPair       Capability = "a pair of connected devices"
)

// Has reports whether the platform has the capability.
func (f *Factory) Has(c Capability) bool {
	switch c {
	case CapSingle:
		return f.Single != ""
	case CapPair:
		return f.Pair[0] != "" && f.Pair[1] != ""
	case CapDevice:
		return f.Has(CapSingle) || f.Has(CapPair)
	case CapSetLink:
		return f.SetLink != nil
	case CapSetOffload:
		return f.SetOffload != nil
	case CapFaults:
		return f.Faults != nil
	}
	return slices.Contains(f.Caps, c)
}

func (f *Factory) open(ctx context.Context, cfg odp.Config) (*odp.Instance, error) {
	if f.Open != nil {
		return f.Open(ctx, cfg)
	}
	return odp.Open(ctx, cfg)
}

// judge says what is wrong with a case that ended without a failure, "" = nothing.
// skipped is the capability that it was skipped for, "" when it passed.
func (f *Factory) judge(id string, skipped Capability) string {
	want, listed := f.Skips[id]
	switch {
	case f.Skips == nil || skipped == want && (listed || skipped == ""):
		return ""
	case skipped == "":
		return "the case passed, and the list of expected skips has it for lack of \"" + string(want) + "\": take it off the list"
	case listed:
		return "skipped for lack of \"" + string(skipped) + "\"; the list of expected skips names \"" + string(want) + "\""
	}
	return "skipped for lack of \"" + string(skipped) + "\", which is not in the list of expected skips"
}
