// SPDX-License-Identifier: Apache-2.0

// Package compare is "odp bench compare": ours and a peer's program do the same work, in
// turn (A B A B …), each run a process of its own, and the ratio of the two is reported
// with its spread.
//
//	row ─▶ ours ─▶ peer ─▶ ours ─▶ peer ─▶ … ─▶ ratio of each pair ─▶ median, min, max
//
// A pair is measured within a second or two, so that a machine that changes its speed
// changes it for both; figures of two days, or of two machines, are not comparable, their
// ratios are.
//
// The rows are in rows.go: the work, the command of each side, how the peer's output is
// read, what is not equal, and the ratio that is wanted. Peers are not part of this
// repository; one that is not found is named as absent, and its rows are left out.
package compare
