// SPDX-License-Identifier: Apache-2.0

// Package pack moves bursts between arrays of event addresses and the slots of
// rings, which hold 32 bit ids (the offset from a base in units of 64 bytes).
//
//	tagged slot  63      32 31      0     a slot of a ring with several producers: one word
//	             |  tag    |   id   |     says whether the id is there and what it is
//	bare slot               31      0     a slot of a ring whose index is published apart
//	                       |   id   |
//
// The tag of slot i of a burst is tag + i, modulo 2^32, in the upper half of a word.
//
// On amd64 with AVX2 eight slots are moved by two vector instructions; Wide says
// whether they are there. They are used outside the race detector only: it must see each
// word. Each 64 bit word of a vector is read and written whole, since words are aligned,
// and x86 keeps loads in their order and stores in theirs. Each form has a plain twin, which
// the tests hold it against.
//
// Addresses are written without write barriers: events live outside of the Go heap.
package pack
