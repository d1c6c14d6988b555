// SPDX-License-Identifier: Apache-2.0

//go:build invariants

package buffer

const checked = true
