// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// with makes the cases the only ones for the time of the test.
func with(t *testing.T, list ...Case) {
	old := cases
	cases = map[string]Case{}
	t.Cleanup(func() { cases = old })
	for _, c := range list {
		register(c.Area(), c)
	}
}

func TestRunAllStates(t *testing.T) {
	order := []string{}
	with(t,
		Case{"POOL-10", "fails", nil, func(e *Env) {
			e.Cleanup(func() { order = append(order, "first") })
			e.Cleanup(func() { order = append(order, "second"); panic("in cleanup") })
			e.Check(false, "one %d", 1)
			e.Must(false, "two")
			e.Errorf("never said")
		}},
		Case{"POOL-9", "passes", nil, func(e *Env) { e.Logf("hello") }},
		Case{"PKT-1", "skips", []Capability{CapPair}, func(e *Env) { t.Error("ran without its capability") }},
		Case{"PKT-2", "skips inside", nil, func(e *Env) { e.Skip("wings"); t.Error("went on after Skip") }},
		Case{"PKT-3", "panics", nil, func(e *Env) { panic("here") }},
	)
	var each []string
	r := RunAll(t.Context(), Factory{Name: "x"}, Options{Each: func(r Result) { each = append(each, r.ID) }})
	want := []State{Passed, Failed, Skipped, Skipped, Failed}
	var got []State
	for _, c := range r.Cases {
		got = append(got, c.State)
	}
	if !slices.Equal(got, want) || r.Passed != 1 || r.Failed != 2 || r.Skipped != 2 || r.OK() {
		t.Errorf("states %v, want %v; %+v", got, want, r)
	}
	if !slices.Equal(each, []string{"POOL-9", "POOL-10", "PKT-1", "PKT-2", "PKT-3"}) {
		t.Errorf("order of the cases: %v", each)
	}
	if !slices.Equal(order, []string{"second", "first"}) {
		t.Errorf("order of the cleanups: %v", order)
	}
	log := strings.Join(r.Cases[1].Log, "\n")
	for _, s := range []string{"framework_test.go:", ": one 1", ": two", "panic in a cleanup: in cleanup"} {
		if !strings.Contains(log, s) {
			t.Errorf("the log lacks %q:\n%s", s, log)
		}
	}
	if strings.Contains(log, "never said") {
		t.Error("the case went on after Fatalf")
	}
	var b strings.Builder
	if err := r.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"failed POOL-10 on x: fails", `skipped on x for lack of "wings": PKT-2`, "x on ", "1 passed, 2 failed, 2 skipped"} {
		if !strings.Contains(b.String(), s) {
			t.Errorf("the table lacks %q:\n%s", s, b.String())
		}
	}
	js, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(js), `"passed":1,"failed":2,"skipped":2,"cases":[{"platform":"x","id":"POOL-9"`) {
		t.Errorf("JSON %s, %v", js, err)
	}
}

func TestRunAllSelects(t *testing.T) {
	with(t, Case{"PKT-1", "a", nil, func(e *Env) {}}, Case{"PKT-11", "b", nil, func(e *Env) {}})
	r := RunAll(t.Context(), Factory{}, Options{Run: regexp.MustCompile(`PKT-1$`)})
	if r.Passed != 1 || r.Cases[0].ID != "PKT-1" || !r.OK() {
		t.Errorf("%+v", r)
	}
	r = RunAll(t.Context(), Factory{}, Options{Run: regexp.MustCompile(`none`)})
	if r.OK() {
		t.Error("a run of nothing is called OK")
	}
}

func TestRunAllHung(t *testing.T) {
	end := make(chan struct{})
	defer close(end)
	with(t, Case{"PKT-1", "hangs", nil, func(e *Env) { <-end }}, Case{"PKT-2", "b", nil, func(e *Env) {}})
	r := RunAll(t.Context(), Factory{}, Options{Limit: 20 * time.Millisecond})
	if r.Failed != 1 || len(r.Cases) != 1 || !strings.Contains(r.Cases[0].Log[0], "did not end within 20ms") {
		t.Errorf("%+v", r)
	}
}

func TestSkipsAreJudged(t *testing.T) {
	with(t,
		Case{"PKT-1", "skips", []Capability{CapPair}, func(e *Env) {}},
		Case{"PKT-2", "passes", nil, func(e *Env) {}},
	)
	for _, c := range []struct {
		name  string
		skips map[string]Capability
		want  []State
		say   string
	}{
		{"no list", nil, []State{Skipped, Passed}, ""},
		{"empty list", map[string]Capability{}, []State{Failed, Passed}, "not in the list of expected skips"},
		{"listed", map[string]Capability{"PKT-1": CapPair}, []State{Skipped, Passed}, ""},
		{"listed for another reason", map[string]Capability{"PKT-1": CapSingle}, []State{Failed, Passed}, "names"},
		{"passes although listed", map[string]Capability{"PKT-1": CapPair, "PKT-2": CapPair}, []State{Skipped, Failed}, "take it off the list"},
	} {
		r := RunAll(t.Context(), Factory{Skips: c.skips}, Options{})
		var log string
		for i, res := range r.Cases {
			if res.State != c.want[i] {
				t.Errorf("%s: %s is %s, want %s", c.name, res.ID, res.State, c.want[i])
			}
			log += strings.Join(res.Log, "\n")
		}
		if c.say == "" && log != "" || !strings.Contains(log, c.say) {
			t.Errorf("%s: log %q, want %q", c.name, log, c.say)
		}
	}
}

func TestEveryCaseIsComplete(t *testing.T) {
	for _, c := range Cases() {
		if !strings.HasSuffix(c.Objective, ".") || len(c.Objective) < 20 {
			t.Errorf("%s: the objective %q is no sentence", c.ID, c.Objective)
		}
	}
}
