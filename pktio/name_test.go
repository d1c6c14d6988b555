// SPDX-License-Identifier: Apache-2.0

package pktio

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/odp-go/godp/pktio/driver"
)

func TestNames(t *testing.T) {
	for _, c := range []struct {
		name, dev string
		want      Config
		rest      map[string]string
		err       string // part of the message; "" = none
	}{
		{name: "loop:0", dev: "loop:0"},
		{name: "netmap:eth0-2", dev: "netmap:eth0-2"},
		{name: "pcap:in=a.pcap,out=b.pcap", dev: "pcap:in=a.pcap,out=b.pcap"},
		{name: "loop:0?seed=512&rx=2&tx=3", dev: "loop:0", want: Config{RxQueues: 2, TxQueues: 3}, rest: map[string]string{"seed": "512"}},
		{name: "loop:0?slots=256", dev: "loop:0", want: Config{RxSlots: 256, TxSlots: 256}},
		{name: "loop:0?rxslots=64&txslots=128&packets=77&maxlen=1500", dev: "loop:0", want: Config{RxSlots: 64, TxSlots: 128, PoolPackets: 77, MaxLen: 1500}},
		{name: "loop:0?lock=none&parse=l2&hash=symmetric", dev: "loop:0", want: Config{LockLevel: LockNone, Parse: ParseL2, Hash: HashSymmetric}},
		{name: "loop:0?lock=pktio&parse=all&hash=toeplitz", dev: "loop:0", want: Config{LockLevel: LockPktio, Parse: ParseAll, Hash: HashToeplitz}},
		{name: "loop:0?promisc=1&strict=on&shared=yes", dev: "loop:0", want: Config{Promisc: true, Strict: true, Shared: true}},
		{name: "loop:0?promisc=0&strict=off&shared=false", dev: "loop:0"},
		{name: "loop:0?linkwait=250ms", dev: "loop:0", want: Config{LinkWait: 250 * time.Millisecond}},
		{name: "loop:0?linkwait=0", dev: "loop:0", want: Config{LinkWait: -1}},

		{name: "loop:0?", err: "nothing after '?'"},
		{name: "loop:0?rx", err: `option "rx"`},
		{name: "loop:0?=4", err: "key=value"},
		{name: "loop:0?rx=", err: "rx has no value"},
		{name: "loop:0?rx=2&", err: "key=value"},
		{name: "loop:0?rx=2&rx=2", err: "rx is given twice"},
		{name: "loop:0?rx=0", err: "from 1 to 64"},
		{name: "loop:0?rx=65", err: "from 1 to 64"},
		{name: "loop:0?rx=-1", err: "from 1 to 64"},
		{name: "loop:0?rx=+1", err: "from 1 to 64"},
		{name: "loop:0?rx=1x", err: "from 1 to 64"},
		{name: "loop:0?rx= 1", err: "from 1 to 64"},
		{name: "loop:0?rx=0x10", err: "from 1 to 64"},
		{name: "loop:0?rx=18446744073709551617", err: "from 1 to 64"},
		{name: "loop:0?slots=64&rxslots=64", err: "slots sets both"},
		{name: "loop:0?lock=spin", err: "pktio device queue none"},
		{name: "loop:0?parse=l5", err: "l2 l3 l4"},
		{name: "loop:0?hash=crc", err: "toeplitz symmetric"},
		{name: "loop:0?promisc=2", err: "promisc"},
		{name: "loop:0?linkwait=5", err: "linkwait"},
		{name: "loop:0?linkwait=-5s", err: "linkwait"},
		{name: "loop:0?linkwait=2h", err: "up to 1h"},
	} {
		dev, opts, err := splitName(c.name)
		var cfg Config
		if err == nil {
			err = cfg.merge(c.name, opts)
		}
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, want one with %q", c.name, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if dev != c.dev || cfg != c.want || !maps.Equal(opts, c.rest) {
			t.Errorf("%s: device %q, config %+v, options %v", c.name, dev, cfg, opts)
		}
	}
}

func TestNameAgainstConfig(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  Config
		ok   bool
	}{
		{"loop:0?rx=2", Config{RxQueues: 2}, true},
		{"loop:0?rx=2", Config{RxQueues: 3}, false},
		{"loop:0?lock=queue", Config{LockLevel: LockQueue}, true},
		{"loop:0?lock=queue", Config{LockLevel: LockDevice}, false},
		{"loop:0?promisc=0", Config{Promisc: true}, false},
		{"loop:0?linkwait=1s", Config{LinkWait: time.Second}, true},
		{"loop:0?linkwait=1s", Config{LinkWait: 2 * time.Second}, false},
	} {
		_, opts, _ := splitName(c.name)
		cfg := c.cfg
		if err := cfg.merge(c.name, opts); (err == nil) != c.ok {
			t.Errorf("%s with %+v: %v", c.name, c.cfg, err)
		}
	}
}

func TestConfigLimits(t *testing.T) {
	for _, c := range []struct {
		cfg Config
		err string
	}{
		{Config{RxQueues: -1}, "RxQueues"},
		{Config{TxQueues: 65}, "TxQueues"},
		{Config{PoolPackets: -1}, "PoolPackets"},
		{Config{RxSlots: 1 << 17}, "RxSlots"},
		{Config{StageSlots: 1000}, "powers of two"},
		{Config{SpreadSlots: 32}, "SpreadSlots"},
		{Config{MaxLen: 1 << 16}, "MaxLen"},
		{Config{NoInput: true, NoOutput: true}, "one of them"},
		{Config{LockLevel: 9}, "LockLevel"},
		{Config{Parse: 9}, "Parse"},
		{Config{Hash: 9}, "Hash"},
		{Config{Shared: true, LockLevel: LockNone}, "lock level none"},
	} {
		if err := c.cfg.check("x:0"); err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%+v: %v, want an error with %q", c.cfg, err, c.err)
		}
	}
	var zero Config
	if err := zero.check("x:0"); err != nil {
		t.Error(err)
	}
}

func TestParseUint(t *testing.T) {
	for _, c := range []struct {
		s  string
		hi uint64
		v  uint64
		ok bool
	}{
		{"0", 0, 0, true}, {"1", 0, 0, false}, {"9", 5, 0, false}, {"5", 5, 5, true}, {"007", 7, 7, true},
		{"18446744073709551615", 1<<64 - 1, 1<<64 - 1, true}, {"18446744073709551616", 1<<64 - 1, 0, false},
		{"99999999999999999999", 1<<64 - 1, 0, false}, {"", 9, 0, false}, {"1 ", 9, 0, false}, {"-0", 9, 0, false},
	} {
		v, err := driver.ParseUint(c.s, c.hi)
		if (err == nil) != c.ok || c.ok && v != c.v {
			t.Errorf("ParseUint(%q, %d) = %d, %v", c.s, c.hi, v, err)
		}
	}
}

// A name that is accepted means the same after it is taken apart and joined again.
func FuzzName(f *testing.F) {
	for _, s := range []string{"loop:0", "loop:0?seed=512&rx=2", "a:b?c=d&e=f", "x?y", "?", "a?b=c=d", "loop:0?rx=99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		dev, opts, err := splitName(name)
		if err != nil {
			return
		}
		dev2, opts2, err := splitName(joinName(dev, opts))
		if err != nil || dev2 != dev || !maps.Equal(opts, opts2) {
			t.Fatalf("%q: %q %v, joined again %q %v %v", name, dev, opts, dev2, opts2, err)
		}
		var cfg Config
		if cfg.merge(name, opts) == nil {
			if err := cfg.check(name); err != nil && !cfg.Shared {
				t.Fatalf("%q: accepted options make a refused configuration: %v", name, err)
			}
		}
		driver.NewOptions(name, opts).Err()
	})
}
