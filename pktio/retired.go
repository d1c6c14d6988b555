// SPDX-License-Identifier: Apache-2.0

package pktio

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/odp-go/godp/pktio/driver"
)

// ErrPacketsOut is wrapped by the error of a Close that found packets of the
// device's own pool with somebody. The device is closed; the pool's memory stays until
// they are back.
var ErrPacketsOut = driver.ErrPacketsOut

// retired are closed devices whose memory can't be given back yet. Every Open and
// Close looks again.
var (
	retiredMu sync.Mutex
	retired   []driver.Device
)

// retire closes a device, or remembers it.
func retire(d driver.Device) error {
	retiredMu.Lock()
	defer retiredMu.Unlock()
	err := d.Close()
	if errors.Is(err, driver.ErrPacketsOut) {
		retired = append(retired, d)
	}
	return err
}

// reap gives back the memory of retired devices whose packets came back.
func reap() {
	retiredMu.Lock()
	defer retiredMu.Unlock()
	keep := retired[:0]
	for _, d := range retired {
		if errors.Is(d.Close(), driver.ErrPacketsOut) {
			keep = append(keep, d)
		}
	}
	clear(retired[len(keep):])
	retired = keep
}

// isRetired reports whether d's memory is still in use.
func isRetired(d driver.Device) bool {
	retiredMu.Lock()
	defer retiredMu.Unlock()
	for _, r := range retired {
		if r == d {
			return true
		}
	}
	return false
}

// awaitPackets waits until the packets of a closed device are back.
func awaitPackets(ctx context.Context, d driver.Device, err error) error {
	for {
		reap()
		if !isRetired(d) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (waited until %w)", err, ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
}
