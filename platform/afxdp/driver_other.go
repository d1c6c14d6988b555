// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package afxdp

import (
	"context"
	"fmt"
	"runtime"

	"github.com/odp-go/godp/pktio/driver"
)

func init() { driver.Register("afxdp", drv{}) }

type drv struct{}

// Open says that there are no AF_XDP sockets here.
func (drv) Open(_ context.Context, name string, _ driver.Config) (driver.Device, error) {
	return nil, fmt.Errorf("device %q: AF_XDP sockets are not supported on %s; use netmap:%s", "afxdp:"+name, runtime.GOOS, name)
}
