// SPDX-License-Identifier: Apache-2.0

// Package devices turns device names into platforms for the conformance suites, and
// makes the in-process platforms that are there on every machine.
package devices

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/odp-go/godp/conformance"
	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/pktio"
)

// Platform is what the suites run against.
type Platform struct {
	conformance.Factory
	// Areas are the areas to run; none = all.
	Areas []string
	// Close gives back what the platform keeps while it is tested; never nil.
	Close func() error
}

// Named is the platform that named devices make: one that receives what it sends, or
// two that are connected.
func Named(names ...string) (Platform, error) {
	p := Platform{Close: func() error { return nil }}
	f, err := conformance.Devices(names...)
	if err != nil {
		return p, err
	}
	if f.Single != "" && strings.HasPrefix(f.Single, "loop:") && !strings.Contains(f.Single, "?") {
		f.Skips = conformance.KnownSkips("loop")
	}
	p.Factory = f
	return p, nil
}

// Split takes a comma separated list of device names apart. A piece without a colon
// belongs to the name before it, since options may hold commas.
func Split(list string) ([]string, error) {
	var names []string
	for i, piece := range strings.Split(list, ",") {
		switch {
		case piece == "":
			return nil, fmt.Errorf("-i %q: an empty name (nothing given, two commas, or one at an end)", list)
		case strings.Contains(piece, ":") || i == 0:
			names = append(names, piece)
		default:
			names[len(names)-1] += "," + piece
		}
	}
	return names, nil
}

// Device is an open device as a report tells it.
type Device struct {
	Name     string   `json:"name"`
	Driver   string   `json:"driver"`
	RxQueues int      `json:"rx_queues"`
	TxQueues int      `json:"tx_queues"`
	RxSlots  int      `json:"rx_slots"`
	TxSlots  int      `json:"tx_slots"`
	Memory   int      `json:"memory_region"`
	ZeroCopy bool     `json:"zero_copy"`
	Why      string   `json:"why,omitempty"` // why not
	MAC      string   `json:"mac"`
	MTU      int      `json:"mtu"`
	Link     bool     `json:"link_up"`
	Notes    []string `json:"notes,omitempty"`
}

// Describe opens the devices of a platform, all at the same time, and tells what they are.
func (p *Platform) Describe(ctx context.Context) (list []Device, err error) {
	in, err := odp.Open(ctx, odp.Config{Name: "describe", Workers: 1, Pin: odp.PinOff, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		return nil, err
	}
	defer func() {
		if end := in.Close(); err == nil {
			err = end
		}
	}()
	for _, name := range []string{p.Single, p.Pair[0], p.Pair[1]} {
		if name == "" {
			continue
		}
		port, err := in.OpenPort(ctx, name, odp.PortConfig{Config: pktio.Config{PoolPackets: 1024}})
		if err != nil {
			return nil, err
		}
		i := port.Info()
		d := Device{
			Name: i.Name, Driver: i.Driver, RxQueues: i.RxQueues, TxQueues: i.TxQueues, RxSlots: i.RxSlots, TxSlots: i.TxSlots,
			Memory: i.MemID, ZeroCopy: i.ZeroCopy, Why: i.Why, Notes: slices.Clone(i.Notes),
			MAC: port.MAC().String(), MTU: port.MTU(), Link: port.Link().Up,
		}
		list = append(list, d)
	}
	return list, nil
}
