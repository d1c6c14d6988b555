// SPDX-License-Identifier: Apache-2.0

//go:build !portable

package testkit

const portable = false
