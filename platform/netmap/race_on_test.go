// SPDX-License-Identifier: Apache-2.0

//go:build race

package netmap

const raceBuild = true
