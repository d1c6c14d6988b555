// SPDX-License-Identifier: Apache-2.0

// Package bench holds the benchmarks of "odp bench". Each does the work of one of ODP's
// performance tests, with that test's options, and nothing but public calls in the form
// that a program would write them.
//
//	open an instance ─▶ warm-up ─▶ barrier ─▶ measured loop ─▶ close      one repetition
//
// A repetition has an instance of its own, so that the luck of one memory layout is in
// the spread and not in the figure. All workers start together; each reads the cycle
// counter right after the barrier and right after its loop. A loop ends after a number of
// events or rounds, as in the originals, or after a time (the default here: then all
// workers are busy to the end).
//
// Definitions, those of the originals:
//
//	events per second   sum of the workers' events / mean of their times
//	cycles, ns per event   mean of the workers' times / mean of their events: what an
//	                       event costs a worker. Cycles are those of the time stamp counter.
//
// Sharing is watched on the side: every 256 rounds a worker notes how far it is in the
// present 10 ms, on the common cycle counter. See Shares.
package bench
