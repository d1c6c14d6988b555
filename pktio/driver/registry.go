// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"fmt"
	"sort"
	"strings"
	"sync"
)

var (
	regMu    sync.Mutex
	registry = map[string]Driver{}
)

// Register makes a driver known under a prefix. A package calls it from init;
// the same prefix twice is a programming error and panics.
func Register(prefix string, d Driver) {
	regMu.Lock()
	defer regMu.Unlock()
	if _, dup := registry[prefix]; dup {
		panic("driver: prefix " + prefix + " registered twice")
	}
	registry[prefix] = d
}

// Lookup finds the driver of a device name "prefix:rest". A device that wraps another
// has a name like "fault(loss=1%):afpacket:eth0", and its driver gets what begins with
// the parenthesis.
func Lookup(name string) (d Driver, rest string, err error) {
	regMu.Lock()
	defer regMu.Unlock()
	prefix, rest, ok := strings.Cut(name, ":")
	if i := strings.IndexByte(prefix, '('); i >= 0 {
		prefix, rest, ok = name[:i], name[i:], true
	}
	d = registry[prefix]
	if strings.HasPrefix(prefix, "vale") && d == nil {
		d, rest, ok = registry["netmap"], name, true
	}
	if !ok || d == nil {
		return nil, "", fmt.Errorf("device %q: unknown kind %q; a name is KIND:DEVICE and the kinds in this program are %s (import the platform's package to add one)",
			name, prefix, strings.Join(kinds(), ", "))
	}
	if rest == "" {
		return nil, "", fmt.Errorf("device %q: nothing after %q; a name is KIND:DEVICE, for example %s:0", name, prefix+":", prefix)
	}
	return d, rest, nil
}

func kinds() []string {
	var k []string
	for p := range registry {
		k = append(k, p)
	}
	sort.Strings(k)
	return k
}
