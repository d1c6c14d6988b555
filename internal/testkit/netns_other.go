// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package testkit

import "testing"

// InNetNS runs f: this system has no network namespaces.
func InNetNS(t testing.TB, f func()) { f() }

func missingNetNS() string { return "this system has no network namespaces" }
