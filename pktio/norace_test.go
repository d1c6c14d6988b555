// SPDX-License-Identifier: Apache-2.0

//go:build !race

package pktio_test

const raceDetector = false
