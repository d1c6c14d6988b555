// SPDX-License-Identifier: Apache-2.0

//go:build !invariants

package buffer

// checked compiles the checks of check.go in (-tags invariants) or out.
const checked = false
