// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package tap

import (
	"context"
	"fmt"
	"runtime"

	"github.com/odp-go/godp/pktio/driver"
)

func init() { driver.Register("tap", drv{}) }

type drv struct{}

// Open says that there are no tap interfaces here.
func (drv) Open(_ context.Context, name string, _ driver.Config) (driver.Device, error) {
	return nil, fmt.Errorf("device %q: tap interfaces are not supported on %s; use netmap: with a VALE port, for example vale0:%s", "tap:"+name, runtime.GOOS, name)
}
