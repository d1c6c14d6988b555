// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestOptions(t *testing.T) {
	o := NewOptions("kind:dev", map[string]string{"n": "5", "b": "on", "d": "2ms", "s": "text", "c": "two"})
	if o.Int("n", 1, 0, 9) != 5 || o.Int("m", 7, 0, 9) != 7 || !o.Bool("b", false) || !o.Bool("b2", true) ||
		o.Duration("d", 0, 0, time.Second) != 2*time.Millisecond || o.Duration("e", time.Minute, 0, time.Hour) != time.Minute ||
		o.String("s", "") != "text" || o.String("u", "def") != "def" || o.Choice("c", "one", "two") != "two" || o.Choice("k", "one", "two") != "one" {
		t.Error("a value is not what was given, or not the default")
	}
	if err := o.Err(); err != nil {
		t.Error(err)
	}
	for opt, want := range map[string]string{
		"n=10": "from 0 to 9", "n=-1": "from 0 to 9", "n=1e1": "from 0 to 9", "b=maybe": "option b", "d=5": "500us",
		"d=2s": "from 0s to 1s", "c=three": "one, two", "x=1": `option "x" is unknown`, "n2=1": "n=0..9",
	} {
		k, v, _ := strings.Cut(opt, "=")
		o := NewOptions("kind:dev", map[string]string{k: v})
		o.Int("n", 1, 0, 9)
		o.Bool("b", false)
		o.Duration("d", 0, 0, time.Second)
		o.Choice("c", "one", "two")
		err := o.Err()
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "kind:dev") {
			t.Errorf("%s: %v, want an error with %q", opt, err, want)
		}
	}
}

func TestParseBool(t *testing.T) {
	for s, want := range map[string]bool{"1": true, "on": true, "yes": true, "true": true, "0": false, "off": false, "no": false, "false": false} {
		if v, err := ParseBool(s); v != want || err != nil {
			t.Errorf("%s: %v, %v", s, v, err)
		}
	}
	for _, s := range []string{"", "2", "On", "TRUE", "yes "} {
		if _, err := ParseBool(s); err == nil {
			t.Errorf("%q is accepted", s)
		}
	}
}

func TestRegisterTwicePanics(t *testing.T) {
	Register("twice", nil)
	defer func() {
		regMu.Lock()
		delete(registry, "twice")
		regMu.Unlock()
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	Register("twice", nil)
}

// A receiver that hangs his bell and then finds nothing is woken by whoever
// publishes afterwards.
func TestBell(t *testing.T) {
	rounds := int64(100000)
	if testing.Short() {
		rounds = 10000
	}
	const senders = 3
	var b Bell
	var published, taken, fences [senders]atomic.Int64
	woken := make(chan struct{}, 1)
	wake := func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	}
	var wg sync.WaitGroup
	for i := range senders {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := int64(1); n <= rounds; n++ {
				published[i].Store(n)
				fences[i].Add(1)
				b.Ring()
			}
		}()
	}
	look := func() (found bool, all bool) {
		all = true
		for i := range published {
			n := published[i].Load()
			found = found || n != taken[i].Load()
			taken[i].Store(n)
			all = all && n == rounds
		}
		return
	}
	for {
		found, all := look()
		if all {
			break
		}
		if found {
			continue
		}
		b.Hang(wake)
		if found, _ := look(); !found {
			select {
			case <-woken:
			case <-time.After(10 * time.Second):
				t.Fatal("the receiver sleeps though something was published, or the senders are stuck")
			}
		}
		b.TakeOff()
	}
	wg.Wait()
}
