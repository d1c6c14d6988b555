// SPDX-License-Identifier: Apache-2.0

package bench

import "slices"

// Spread is the median of some values with the smallest and the largest.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// SpreadOf returns the spread of v, which it does not change; zeros for none.
func SpreadOf(v []float64) Spread {
	if len(v) == 0 {
		return Spread{}
	}
	s := slices.Sorted(slices.Values(v))
	m := s[len(s)/2]
	if len(s)%2 == 0 {
		m = (m + s[len(s)/2-1]) / 2
	}
	return Spread{Median: m, Min: s[0], Max: s[len(s)-1]}
}

// Jain is Jain's fairness index of v: 1 when all are equal, 1/len(v) when one has all.
func Jain(v []float64) float64 {
	var sum, sq float64
	for _, x := range v {
		sum += x
		sq += x * x
	}
	if sq == 0 {
		return 0
	}
	return sum * sum / (float64(len(v)) * sq)
}
