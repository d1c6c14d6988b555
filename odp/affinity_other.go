// SPDX-License-Identifier: Apache-2.0

//go:build portable || (!linux && !freebsd)

package odp

func threadCPUs() (CPUMask, error) { return CPUMask{}, errUnsupported }
func pinThread(int) error          { return errUnsupported }
func niceThread(int) error         { return errUnsupported }
