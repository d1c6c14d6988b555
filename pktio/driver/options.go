// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"
)

// Options reads the key=value pairs of a device name strictly: an unknown key, a
// value with trailing characters, a negative or too large number is an error that
// names the key and what is allowed. Read every key, then ask Err.
type Options struct {
	name  string
	m     map[string]string
	known []string
	errs  []error
}

// NewOptions reads the options m of the device called name.
func NewOptions(name string, m map[string]string) *Options {
	return &Options{name: name, m: m}
}

// Int reads a whole number in [lo, hi]; def when the key is absent.
func (o *Options) Int(key string, def, lo, hi int) int {
	o.known = append(o.known, fmt.Sprintf("%s=%d..%d", key, lo, hi))
	s, ok := o.m[key]
	if !ok {
		return def
	}
	v, err := ParseUint(s, uint64(max(hi, 0)))
	if err != nil || int(v) < lo {
		o.errs = append(o.errs, fmt.Errorf("option %s=%q: allowed are whole numbers from %d to %d", key, s, lo, hi))
		return def
	}
	return int(v)
}

// Choice reads one of the allowed words; the first of them when the key is absent.
func (o *Options) Choice(key string, allowed ...string) string {
	o.known = append(o.known, key+"="+strings.Join(allowed, "|"))
	s, ok := o.m[key]
	if !ok {
		return allowed[0]
	}
	for _, a := range allowed {
		if s == a {
			return s
		}
	}
	o.errs = append(o.errs, fmt.Errorf("option %s=%q: allowed are %s", key, s, strings.Join(allowed, ", ")))
	return allowed[0]
}

// Bool reads 0/1, off/on, false/true; def when the key is absent.
func (o *Options) Bool(key string, def bool) bool {
	o.known = append(o.known, key+"=0|1")
	s, ok := o.m[key]
	if !ok {
		return def
	}
	v, err := ParseBool(s)
	if err != nil {
		o.errs = append(o.errs, fmt.Errorf("option %s: %w", key, err))
	}
	return v
}

// Duration reads a time such as 500us or 2s in [lo, hi]; def when absent.
func (o *Options) Duration(key string, def, lo, hi time.Duration) time.Duration {
	o.known = append(o.known, fmt.Sprintf("%s=%v..%v", key, lo, hi))
	s, ok := o.m[key]
	if !ok {
		return def
	}
	v, err := time.ParseDuration(s)
	if err != nil || v < lo || v > hi {
		o.errs = append(o.errs, fmt.Errorf("option %s=%q: allowed are times from %v to %v (for example 500us, 2s)", key, s, lo, hi))
		return def
	}
	return v
}

// String reads any text; def when the key is absent.
func (o *Options) String(key, def string) string {
	o.known = append(o.known, key+"=TEXT")
	if s, ok := o.m[key]; ok {
		return s
	}
	return def
}

// Err reports every wrong value and every key that was never asked for.
func (o *Options) Err() error {
	var unknown []string
	for k := range o.m {
		found := false
		for _, a := range o.known {
			if a == k || strings.HasPrefix(a, k+"=") {
				found = true
			}
		}
		if !found {
			unknown = append(unknown, k)
		}
	}
	sort.Strings(unknown)
	for _, k := range unknown {
		allowed := "this device has no options of its own"
		if len(o.known) > 0 {
			allowed = "this device's own options are " + strings.Join(o.known, ", ")
		}
		o.errs = append(o.errs, fmt.Errorf("option %q is unknown: %s; those of every device are %s", k, allowed, PortOptions))
	}
	if len(o.errs) == 0 {
		return nil
	}
	return fmt.Errorf("device %q: %w", o.name, errors.Join(o.errs...))
}

// PortOptions names the options that pktio takes for every device.
const PortOptions = "rx, tx, rxslots, txslots, slots, packets, lock, parse, hash, promisc, strict, shared, takeover, linkwait, maxlen"

// ParseUint reads a whole decimal number of at most hi: digits only.
func ParseUint(s string, hi uint64) (uint64, error) {
	if s == "" {
		return 0, fmt.Errorf("empty: allowed are whole numbers up to %d", hi)
	}
	var v uint64
	for i := 0; i < len(s); i++ {
		c := uint64(s[i]) - '0'
		if c > 9 {
			return 0, fmt.Errorf("%q: character %q: allowed are whole numbers up to %d", s, s[i], hi)
		}
		if c > hi || v > (hi-c)/10 {
			return 0, fmt.Errorf("%q is too large: allowed are whole numbers up to %d", s, hi)
		}
		v = v*10 + c
	}
	return v, nil
}

// ParseBool reads 0/1, off/on, no/yes, false/true.
func ParseBool(s string) (bool, error) {
	switch s {
	case "1", "on", "yes", "true":
		return true, nil
	case "0", "off", "no", "false":
		return false, nil
	}
	return false, fmt.Errorf("%q: allowed are 0, 1, off, on, no, yes, false, true", s)
}
