// SPDX-License-Identifier: Apache-2.0

// Package lint holds the rules of the house that a compiler does not know, as a
// test: which room may import which (the table of the design), the length of files,
// the licence line, words that unfinished work leaves behind, and formatting.
package lint
