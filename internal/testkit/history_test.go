// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"strings"
	"testing"
)

// Each history but the first is one that no first-in first-out queue of 4 gives.
func TestHistory(t *testing.T) {
	type step struct {
		put, all   bool
		begin, end int64
		asked      int
		vals       []uint64
		who        int
	}
	put := func(b, e int64, who, asked int, v ...uint64) step { return step{true, false, b, e, asked, v, who} }
	get := func(b, e int64, who, asked int, v ...uint64) step { return step{false, false, b, e, asked, v, who} }
	for _, c := range []struct {
		name, want string
		left       []uint64
		steps      []step
	}{
		{"good", "", []uint64{5}, []step{put(1, 2, 0, 2, 1, 2), put(3, 6, 0, 3, 3, 4), get(4, 5, 1, 1, 1), get(7, 8, 1, 4, 2, 3, 4), get(9, 10, 1, 1), put(11, 12, 2, 1, 5)}},
		{"overlapping puts in any order", "", nil, []step{put(1, 4, 0, 1, 1), put(2, 3, 1, 1, 2), get(5, 6, 2, 1, 2), get(7, 8, 2, 1, 1)}},
		{"a get behind a put under way", "", nil, []step{put(1, 2, 0, 1, 1), put(3, 6, 1, 1, 2), get(4, 5, 2, 1), get(7, 8, 2, 2, 1, 2)}},
		{"from nowhere", "never put in", nil, []step{get(1, 2, 0, 1, 7)}},
		{"twice", "came twice", nil, []step{put(1, 2, 0, 1, 1), get(3, 4, 0, 1, 1), get(5, 6, 0, 1, 1)}},
		{"twice, once at the end", "came twice", []uint64{1}, []step{put(1, 2, 0, 1, 1), get(3, 4, 0, 1, 1)}},
		{"lost", "lost", nil, []step{put(1, 2, 0, 1, 1)}},
		{"too early", "before it was put in", nil, []step{get(1, 2, 0, 1, 1), put(3, 4, 0, 1, 1)}},
		{"order of two puts", "came after it", nil, []step{put(1, 2, 0, 1, 1), put(3, 4, 1, 1, 2), get(5, 6, 0, 1, 2), get(7, 8, 0, 1, 1)}},
		{"order in a put", "came after it", nil, []step{put(1, 2, 0, 2, 1, 2), get(5, 6, 0, 2, 2, 1)}},
		{"order of what is left", "came after it", []uint64{1}, []step{put(1, 2, 0, 2, 1, 2), get(5, 6, 0, 1, 2)}},
		{"refused", "refused", nil, []step{put(1, 2, 0, 4, 1, 2, 3), get(3, 4, 0, 3, 1, 2, 3)}},
		{"all refused", "refused", nil, []step{put(1, 2, 0, 2, 1, 2), {true, true, 3, 4, 2, nil, 0}, get(5, 6, 0, 2, 1, 2)}},
		{"not seen", "all the time", nil, []step{put(1, 2, 0, 1, 1), get(3, 4, 1, 1), get(5, 6, 1, 1, 1)}},
	} {
		var h History
		for _, s := range c.steps {
			h.calls = append(h.calls, call(s))
			h.clock.Store(s.end)
		}
		h.clock.Store(100)
		err := h.Check(4, c.left)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	var h History
	l := h.Log(1)
	l.Put(l.Begin(), 2, false, []uint64{1, 2})
	l.Get(l.Begin(), 1, true, []uint64{1})
	l.End()
	if err := h.Check(4, []uint64{2}); err != nil {
		t.Error(err)
	}
}
