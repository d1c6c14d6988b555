// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"
	"syscall"

	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/odptest"
	"github.com/odp-go/godp/pktio"
)

// Packet I/O: what users have met with opens that fail, and with mistakes that nobody
// explained to them.

func init() {
	dev := []Capability{CapDevice}
	register("PKTIO",
		Case{"PKTIO-208", "Whichever system call fails while a port is opened, the error names the device, nothing is left behind, and the next open works.", []Capability{CapDevice, CapFaults}, ioFaults},
		Case{"PKTIO-212", "An offload that would change or hide frames is named at open, with the command that turns it off; Strict refuses it.", []Capability{CapDevice, CapSetOffload}, ioOffloads},
		Case{"PKTIO-213", "A wrong name, option or configuration is an error that names the device, what is wrong and what is allowed, and nothing is left behind.", dev, ioMistakes},
	)
}

// receiver is the name of the device that receives.
func (e *Env) receiver() string {
	if e.F.Has(CapPair) {
		return e.F.Pair[1]
	}
	return e.F.Single
}

func ioFaults(e *Env) {
	f, in, name := e.F.Faults, e.Instance(), e.receiver()
	e.Cleanup(func() { f.Fail(0, 0) })
	errnos := []syscall.Errno{syscall.ENOMEM, syscall.EIO, syscall.EINVAL, syscall.EINTR}
	if e.Short() {
		errnos = errnos[:1]
	}
	two := pktio.Config{PoolPackets: 256, RxQueues: 2, TxQueues: 2}
	for _, cfg := range []odp.PortConfig{{Config: pktio.Config{PoolPackets: 256}}, {Mode: odp.ModeScheduled, Config: two}, {Config: pktio.Config{Promisc: true, PoolPackets: 256}}} {
		for _, errno := range errnos {
			hit := 0
			for k, pending := 1, false; !pending; k++ {
				e.Must(k < 1000, "an open makes %d system calls, and more", k)
				f.Fail(k, errno)
				p, err := in.OpenPort(e.Context(), name, cfg)
				pending = f.Pending()
				f.Fail(0, 0)
				if err == nil {
					e.NoError(p.Close(e.Context()), "Close")
				} else {
					e.Check(!pending, "OpenPort failed though no call did: %v", err)
					e.Check(p == nil && strings.Contains(err.Error(), strings.SplitN(name, "?", 2)[0]), "call %d failed with %v: the error, %v, does not name the device", k, errno, err)
					e.Check(pktio.Lookup(name) == nil, "call %d failed with %v: the device counts as open", k, errno)
					hit++
				}
				left := f.Left()
				e.Must(left == "", "call %d of OpenPort failed with %v: left behind: %s", k, errno, left)
			}
			e.Check(hit > 0, "no call of OpenPort could fail with %v", errno)
		}
	}
	x := e.wire(odp.PortConfig{})
	x.pass(x.frames(10, odptest.Frame{}))
}

func ioOffloads(e *Env) {
	in, name := e.Instance(), e.receiver()
	cfg := odp.PortConfig{Config: pktio.Config{PoolPackets: wirePackets}}
	offload := func(on bool) {
		e.Helper()
		e.NoError(e.F.SetOffload(name, on), "offload of %s: %v", name, on)
	}
	notes := func() string {
		e.Helper()
		p, err := in.OpenPort(e.Context(), name, cfg)
		e.NoError(err, "OpenPort")
		s := strings.Join(p.Info().Notes, "; ")
		e.NoError(p.Close(e.Context()), "Close")
		return s
	}
	e.Check(!strings.Contains(notes(), "offload"), "without offloads there is a note: %s", notes())
	offload(true)
	s := notes()
	e.Check(strings.Contains(s, "offload") && (strings.Contains(s, "ethtool") || strings.Contains(s, "ifconfig")), "an offload is on, and the notes are %q", s)
	strict := cfg
	strict.Strict = true
	p, err := in.OpenPort(e.Context(), name, strict)
	e.Check(p == nil && err != nil && strings.Contains(err.Error(), "offload"), "Strict with an offload: %v", err)
	offload(false)
	e.Check(!strings.Contains(notes(), "offload"), "after the offload is off there is a note: %s", notes())
	x := e.wire(odp.PortConfig{})
	x.pass(x.frames(10, odptest.Frame{}))
}

func ioMistakes(e *Env) {
	in, name := e.Instance(), e.receiver()
	sep := "?"
	if strings.Contains(name, "?") {
		sep = "&"
	}
	device := strings.SplitN(name, "?", 2)[0]
	try := func(what, opts string, cfg odp.PortConfig, say ...string) {
		e.Helper()
		n := name
		if opts != "" {
			n += sep + opts
		}
		p, err := in.OpenPort(e.Context(), n, cfg)
		if p != nil {
			e.Errorf("%s was accepted", what)
			e.NoError(p.Close(e.Context()), "Close")
			return
		}
		for _, s := range append(say, device) {
			e.Check(err != nil && strings.Contains(err.Error(), s), "%s: the error, %v, has no %q", what, err, s)
		}
		e.Check(pktio.Lookup(name) == nil, "%s: the device counts as open", what)
	}
	for _, o := range []struct {
		opts string
		say  []string
	}{
		{"rx=0", []string{"rx", "0", "allowed"}}, {"rx=65", []string{"rx", "65", "allowed", "64"}}, {"tx=-1", []string{"tx", "-1", "allowed"}}, {"rx=1x", []string{"1x", "allowed"}},
		{"slots=0", []string{"slots", "allowed"}}, {"slots=99999999", []string{"slots", "allowed"}}, {"lock=mine", []string{"lock", "mine", "queue"}}, {"parse=l9", []string{"parse", "l9", "l4"}},
		{"hash=md5", []string{"hash", "md5", "toeplitz"}}, {"promisc=maybe", []string{"promisc", "maybe", "allowed"}}, {"strict=2", []string{"strict", "allowed"}}, {"linkwait=soon", []string{"linkwait", "soon", "allowed"}},
		{"maxlen=70000", []string{"maxlen", "70000", "allowed"}}, {"no-such-option=1", []string{"no-such-option"}}, {"rx", []string{"rx", "key=value"}}, {"rx=", []string{"rx", "VALUE"}},
		{"hash=none&hash=none", []string{"hash", "twice"}},
	} {
		try("option "+o.opts, o.opts, odp.PortConfig{}, o.say...)
	}
	buffersOnly := e.Pool(odp.PoolConfig{Type: buffers, Num: 64, Size: 2048})
	for _, c := range []struct {
		what string
		cfg  odp.PortConfig
		say  []string
	}{
		{"RxQueues -1", odp.PortConfig{Config: pktio.Config{RxQueues: -1}}, []string{"RxQueues", "-1", "allowed"}},
		{"a ring of a million slots", odp.PortConfig{Config: pktio.Config{RxSlots: 1 << 20}}, []string{"RxSlots", "allowed"}},
		{"neither input nor output", odp.PortConfig{Config: pktio.Config{NoInput: true, NoOutput: true}}, []string{"NoInput", "NoOutput"}},
		{"a shared device without locks", odp.PortConfig{Config: pktio.Config{Shared: true, LockLevel: odp.LockNone}}, []string{"Shared", "none"}},
		{"lock level 9", odp.PortConfig{Config: pktio.Config{LockLevel: 9}}, []string{"LockLevel", "9", "allowed"}},
		{"hash 9", odp.PortConfig{Config: pktio.Config{Hash: 9}}, []string{"Hash", "9", "allowed"}},
		{"a staging ring of 100", odp.PortConfig{Config: pktio.Config{StageSlots: 100}}, []string{"StageSlots", "100", "power"}},
		{"a pool of buffers", odp.PortConfig{Config: pktio.Config{Pool: buffersOnly}}, []string{"pool", "packet"}},
		{"mode 9", odp.PortConfig{Mode: 9}, []string{"Mode", "9", "allowed"}},
		{"several queues in direct mode", odp.PortConfig{NumQueues: 2}, []string{"NumQueues", "ModeScheduled"}},
		{"groups in direct mode", odp.PortConfig{Groups: []*odp.Group{nil}}, []string{"Groups", "direct"}},
		{"65 queues to spread over", odp.PortConfig{Mode: odp.ModeScheduled, NumQueues: 65}, []string{"NumQueues", "65", "64"}},
	} {
		try(c.what, "", c.cfg, c.say...)
	}
	if e.F.Faults != nil {
		e.Check(e.F.Faults.Left() == "", "left behind: %s", e.F.Faults.Left())
	}
	x := e.wire(odp.PortConfig{})
	x.pass(x.frames(10, odptest.Frame{}))
}
