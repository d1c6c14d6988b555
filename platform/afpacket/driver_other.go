// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package afpacket

import (
	"context"
	"fmt"
	"runtime"

	"github.com/odp-go/godp/pktio/driver"
)

func init() { driver.Register("afpacket", drv{}) }

type drv struct{}

// Open says that there are no packet sockets here.
func (drv) Open(_ context.Context, name string, _ driver.Config) (driver.Device, error) {
	return nil, fmt.Errorf("device %q: packet sockets are not supported on %s; use netmap:%s", "afpacket:"+name, runtime.GOOS, name)
}
