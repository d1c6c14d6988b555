// SPDX-License-Identifier: Apache-2.0

//go:build portable

package odp

const portableBuild = true
