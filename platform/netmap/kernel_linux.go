// SPDX-License-Identifier: Apache-2.0

//go:build linux && !race && !portable

package netmap

import "github.com/odp-go/godp/platform/netmap/abi"

func (osDevice) Numbers() abi.Numbers { return abi.LinuxNumbers }
