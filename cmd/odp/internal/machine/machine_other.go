// SPDX-License-Identifier: Apache-2.0

//go:build !linux && !freebsd && !darwin

package machine

func (m *Machine) read() {}
