// SPDX-License-Identifier: Apache-2.0

//go:build !invariants

package invariants

// Enabled says whether this build checks its invariants (build tag "invariants").
const Enabled = false
