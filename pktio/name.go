// SPDX-License-Identifier: Apache-2.0

package pktio

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/odp-go/godp/pktio/driver"
)

// CheckName says what is wrong with the form of a device name ("kind:device?key=value"),
// without opening anything: an unknown kind, or options that are no key=value pairs.
// Which options a device has, its driver says at Open.
func CheckName(name string) error {
	dev, _, err := splitName(name)
	if err == nil {
		_, _, err = driver.Lookup(dev)
	}
	return err
}

// splitName takes "kind:device?key=value&key=value" apart. The device part is
// the driver's business; the options are checked here for their form only.
func splitName(name string) (dev string, opts map[string]string, err error) {
	dev, rest, has := strings.Cut(name, "?")
	opts = map[string]string{}
	if !has {
		return dev, opts, nil
	}
	if rest == "" {
		return "", nil, fmt.Errorf("device %q: nothing after '?': write key=value pairs joined by '&', or leave the '?' out", name)
	}
	for _, kv := range strings.Split(rest, "&") {
		k, v, ok := strings.Cut(kv, "=")
		switch {
		case !ok || k == "":
			return "", nil, fmt.Errorf("device %q: option %q: allowed are key=value pairs joined by '&'", name, kv)
		case v == "":
			return "", nil, fmt.Errorf("device %q: option %s has no value: write %s=VALUE", name, k, k)
		}
		if _, dup := opts[k]; dup {
			return "", nil, fmt.Errorf("device %q: option %s is given twice", name, k)
		}
		opts[k] = v
	}
	return dev, opts, nil
}

// joinName is the inverse of splitName.
func joinName(dev string, opts map[string]string) string {
	sep := "?"
	for _, k := range slices.Sorted(maps.Keys(opts)) {
		dev += sep + k + "=" + opts[k]
		sep = "&"
	}
	return dev
}

// merge moves the options that every device has from opts into the Config.
func (c *Config) merge(name string, opts map[string]string) error {
	number := func(key string, lo, hi int, dst *int) error {
		s, ok := opts[key]
		if !ok {
			return nil
		}
		delete(opts, key)
		v, err := driver.ParseUint(s, uint64(hi))
		if err != nil || int(v) < lo {
			return fmt.Errorf("device %q: option %s=%q: allowed are whole numbers from %d to %d", name, key, s, lo, hi)
		}
		if *dst != 0 && *dst != int(v) {
			return fmt.Errorf("device %q: option %s=%d, but the program's configuration says %d: give it in one place", name, key, v, *dst)
		}
		*dst = int(v)
		return nil
	}
	flag := func(key string, dst *bool) error {
		s, ok := opts[key]
		if !ok {
			return nil
		}
		delete(opts, key)
		v, err := driver.ParseBool(s)
		if err != nil {
			return fmt.Errorf("device %q: option %s=%w", name, key, err)
		}
		if *dst && !v {
			return fmt.Errorf("device %q: option %s=%s, but the program's configuration asks for it: give it in one place", name, key, s)
		}
		*dst = v
		return nil
	}
	if s, ok := opts["slots"]; ok {
		for _, k := range []string{"rxslots", "txslots"} {
			if _, dup := opts[k]; dup {
				return fmt.Errorf("device %q: options slots and %s: slots sets both directions, give one of them", name, k)
			}
			opts[k] = s
		}
		delete(opts, "slots")
	}
	for _, f := range []error{
		number("packets", 1, maxPackets, &c.PoolPackets),
		number("rx", 1, maxQueues, &c.RxQueues),
		number("tx", 1, maxQueues, &c.TxQueues),
		number("rxslots", 1, maxSlots, &c.RxSlots),
		number("txslots", 1, maxSlots, &c.TxSlots),
		number("maxlen", 1, maxFrame, &c.MaxLen),
		flag("promisc", &c.Promisc),
		flag("strict", &c.Strict),
		flag("shared", &c.Shared),
		flag("takeover", &c.TakeOver),
		choice(name, "lock", opts, &c.LockLevel, ParseLockLevel),
		choice(name, "parse", opts, &c.Parse, ParseDepth),
		choice(name, "hash", opts, &c.Hash, ParseHash),
	} {
		if f != nil {
			return f
		}
	}
	if s, ok := opts["linkwait"]; ok {
		delete(opts, "linkwait")
		d, err := time.ParseDuration(s)
		switch {
		case s == "0":
			d = -1
		case err != nil || d < 0 || d > time.Hour:
			return fmt.Errorf("device %q: option linkwait=%q: allowed are 0 (do not wait) and times up to 1h (for example 500ms, 10s)", name, s)
		}
		if c.LinkWait != 0 && c.LinkWait != d {
			return fmt.Errorf("device %q: option linkwait=%s, but the program's configuration says %v: give it in one place", name, s, c.LinkWait)
		}
		c.LinkWait = d
	}
	return nil
}

func choice[T ~uint8](name, key string, opts map[string]string, dst *T, parse func(string) (T, error)) error {
	s, ok := opts[key]
	if !ok {
		return nil
	}
	delete(opts, key)
	v, err := parse(s)
	if err != nil {
		return fmt.Errorf("device %q: option %s=%w", name, key, err)
	}
	if *dst != 0 && *dst != v {
		return fmt.Errorf("device %q: option %s=%s, but the program's configuration says otherwise: give it in one place", name, key, s)
	}
	*dst = v
	return nil
}
