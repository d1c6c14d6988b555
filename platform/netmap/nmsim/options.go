// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Configure makes the port that a device name asks for, from the options behind its
// '?': what "nmsim:eth0?far=source&sink=1" means. Options that belong to others are
// in others; an unknown one is an error that lists the known ones.
//
//	rings= tx-rings= rx-rings= slots= tx-slots= rx-slots= host-rings=   numbers
//	mem=N           memory region            mac= peermac=   addresses
//	mtu=N           frag=1                   frames of several slots
//	txdelay=10us    txdelaysyncs=N           completion later
//	far=source      or none                  pps= fifo= len= frags= flows= burst= window= count=
//	                                         shuffle= seed= corrupt= dup= zero= cut=1 srcip= dstip=
//	sink=1          sinkdst= sinksrc=        addresses that the sink expects
//	                sinkorder=ring|port      where the order of a flow is checked (ring)
//	cable=PORT      join with another port, made when it does not exist; joined to it already is fine
//	                while both are closed
//	extraless=N     grant so many extra buffers fewer
//	personality=linux|freebsd                must be the World's, unless nothing is open
//
// A port that exists and is not open is made anew when there are options; one that is
// open keeps its configuration, and options for it are an error. Names of switch ports and
// pipes need no configuration.
func (w *World) Configure(name string, opts map[string]string) error {
	if strings.HasPrefix(name, "vale") || strings.ContainsAny(name, "{}") {
		for k := range opts {
			if k != "personality" {
				return fmt.Errorf("nmsim: port %q: option %q: ports of switches and pipes have personality= only, the others are for cards", name, k)
			}
		}
		return w.configureWorld(name, opts)
	}
	cfg, o, err := ParseOptions(opts)
	if err != nil {
		return fmt.Errorf("nmsim: port %q: %w", name, err)
	}
	if err := w.configureWorld(name, opts); err != nil {
		return err
	}
	w.mu.Lock()
	p := w.ports[name]
	if p != nil && p.fds == 0 && p.peer != nil && p.peer.fds == 0 && p.peer.name == o.cable {
		p.unplug() // the same cable again: a program run a second time
	}
	if p != nil && p.fds == 0 && p.peer == nil && o.set {
		w.dropNIC(p)
		p = nil
	} else if p != nil && o.set && (p.fds > 0 || p.peer != nil) {
		w.mu.Unlock()
		return fmt.Errorf("nmsim: port %q: is open or joined already, its options can't change: name it without '?', or close it first", name)
	}
	if p == nil {
		err = w.newNIC(name, cfg)
	}
	w.mu.Unlock()
	if err != nil {
		return err
	}
	if o.cable != "" {
		if _, ok := w.Info(o.cable); !ok {
			if err := w.NIC(o.cable, NICConfig{}); err != nil {
				return err
			}
		}
		if err := w.Cable(name, o.cable); err != nil {
			return err
		}
	}
	if o.less > 0 {
		return w.GrantFewer(name, o.less)
	}
	return nil
}

// Fixed reports whether a port is open, or joined to another by a cable: its configuration
// can't change now.
func (w *World) Fixed(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.ports[name]
	return p != nil && (p.fds > 0 || p.peer != nil)
}

// configureWorld is for the options that concern the whole World.
func (w *World) configureWorld(name string, opts map[string]string) error {
	v, ok := opts["personality"]
	if !ok {
		return nil
	}
	want, known := map[string]Personality{"linux": Linux, "freebsd": FreeBSD}[v]
	if !known {
		return fmt.Errorf("nmsim: port %q: personality=%s: allowed linux, freebsd", name, v)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if want == w.cfg.Personality {
		return nil
	}
	if w.Open() > 0 {
		return fmt.Errorf("nmsim: port %q: personality=%s: ports are open with the other one; close them first", name, v)
	}
	w.cfg.Personality = want
	return nil
}

// extraOptions are the options that are not part of NICConfig.
type extraOptions struct {
	cable string
	less  int
	set   bool // any option at all
}

// Options lists the option names that Configure knows.
func Options() []string {
	var o []string
	for k := range optionTable {
		o = append(o, k)
	}
	sort.Strings(o)
	return o
}

type optionState struct {
	cfg  NICConfig
	src  SourceConfig
	sink SinkConfig
	far  bool
	want bool // a sink
	x    extraOptions
}

// ParseOptions turns the options of a name into a configuration.
func ParseOptions(opts map[string]string) (NICConfig, extraOptions, error) {
	var s optionState
	keys := make([]string, 0, len(opts))
	for k := range opts {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		f := optionTable[k]
		if f == nil {
			return s.cfg, s.x, fmt.Errorf("option %q: not known; allowed %s", k, strings.Join(Options(), " "))
		}
		if err := f(&s, opts[k]); err != nil {
			return s.cfg, s.x, fmt.Errorf("option %s=%s: %w", k, opts[k], err)
		}
		s.x.set = s.x.set || k != "personality"
	}
	if s.far {
		s.cfg.Source = &s.src
	}
	if s.want {
		s.cfg.Sink = &s.sink
	}
	return s.cfg, s.x, nil
}

type setter func(s *optionState, v string) error

func number(field func(s *optionState) *int) setter {
	return func(s *optionState, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 {
			return fmt.Errorf("want a number from 0")
		}
		*field(s) = n
		return nil
	}
}

func address(field func(s *optionState) *net.HardwareAddr) setter {
	return func(s *optionState, v string) error {
		m, err := net.ParseMAC(v)
		if err != nil || len(m) != 6 {
			return fmt.Errorf("want an address like 02:00:00:00:00:01")
		}
		*field(s) = m
		return nil
	}
}

func ipv4(field func(s *optionState) *netip.Addr) setter {
	return func(s *optionState, v string) error {
		a, err := netip.ParseAddr(v)
		if err != nil || !a.Is4() {
			return fmt.Errorf("want an IPv4 address")
		}
		*field(s) = a
		return nil
	}
}

func flag(field func(s *optionState) *bool) setter {
	return func(s *optionState, v string) error {
		b, err := strconv.ParseBool(v)
		if err != nil {
			return fmt.Errorf("want 1 or 0")
		}
		*field(s) = b
		return nil
	}
}

var optionTable = map[string]setter{
	"rings": func(s *optionState, v string) error {
		if err := number(func(s *optionState) *int { return &s.cfg.TxRings })(s, v); err != nil {
			return err
		}
		s.cfg.RxRings = s.cfg.TxRings
		return nil
	},
	"slots": func(s *optionState, v string) error {
		if err := number(func(s *optionState) *int { return &s.cfg.TxSlots })(s, v); err != nil {
			return err
		}
		s.cfg.RxSlots = s.cfg.TxSlots
		return nil
	},
	"tx-rings":     number(func(s *optionState) *int { return &s.cfg.TxRings }),
	"rx-rings":     number(func(s *optionState) *int { return &s.cfg.RxRings }),
	"tx-slots":     number(func(s *optionState) *int { return &s.cfg.TxSlots }),
	"rx-slots":     number(func(s *optionState) *int { return &s.cfg.RxSlots }),
	"host-rings":   number(func(s *optionState) *int { return &s.cfg.HostRings }),
	"mtu":          number(func(s *optionState) *int { return &s.cfg.MTU }),
	"txdelaysyncs": number(func(s *optionState) *int { return &s.cfg.TxDelaySyncs }),
	"len":          number(func(s *optionState) *int { return &s.src.Len }),
	"frags":        number(func(s *optionState) *int { return &s.src.Frags }),
	"flows":        number(func(s *optionState) *int { return &s.src.Flows }),
	"burst":        number(func(s *optionState) *int { return &s.src.Burst }),
	"window":       number(func(s *optionState) *int { return &s.src.Window }),
	"shuffle":      number(func(s *optionState) *int { return &s.src.Shuffle }),
	"corrupt":      number(func(s *optionState) *int { return &s.src.CorruptEvery }),
	"dup":          number(func(s *optionState) *int { return &s.src.DupEvery }),
	"zero":         number(func(s *optionState) *int { return &s.src.ZeroEvery }),
	"extraless":    number(func(s *optionState) *int { return &s.x.less }),
	"frag":         flag(func(s *optionState) *bool { return &s.cfg.MoreFrag }),
	"cut":          flag(func(s *optionState) *bool { return &s.src.CutChains }),
	"sink":         flag(func(s *optionState) *bool { return &s.want }),
	"sinkorder": func(s *optionState, v string) error {
		if v != "ring" && v != "port" {
			return fmt.Errorf("allowed ring, port")
		}
		s.sink.PortOrder = v == "port"
		return nil
	},
	"mac":         address(func(s *optionState) *net.HardwareAddr { return &s.cfg.MAC }),
	"peermac":     address(func(s *optionState) *net.HardwareAddr { return &s.cfg.PeerMAC }),
	"sinkdst":     address(func(s *optionState) *net.HardwareAddr { return &s.sink.DstMAC }),
	"sinksrc":     address(func(s *optionState) *net.HardwareAddr { return &s.sink.SrcMAC }),
	"srcip":       ipv4(func(s *optionState) *netip.Addr { return &s.src.SrcIP }),
	"dstip":       ipv4(func(s *optionState) *netip.Addr { return &s.src.DstIP }),
	"cable":       func(s *optionState, v string) error { s.x.cable = v; return nil },
	"personality": func(s *optionState, v string) error { return nil },
	"mem": func(s *optionState, v string) error {
		n, err := strconv.ParseUint(v, 10, 16)
		if err != nil || n == 0 {
			return fmt.Errorf("want a number from 1 to 65535")
		}
		s.cfg.MemID = uint16(n)
		return nil
	},
	"fifo": func(s *optionState, v string) error {
		err := number(func(s *optionState) *int { return &s.src.FIFO })(s, v)
		if s.src.FIFO == 0 {
			s.src.FIFO = -1
		}
		return err
	},
	"far": func(s *optionState, v string) error {
		if v != "source" && v != "none" {
			return fmt.Errorf("allowed source, none")
		}
		s.far = v == "source"
		return nil
	},
	"pps": func(s *optionState, v string) error {
		f, err := strconv.ParseFloat(v, 64)
		if err != nil || f < 0 || f > 1e12 {
			return fmt.Errorf("want frames per second, 0 = saturating")
		}
		s.src.PPS = f
		return nil
	},
	"count": func(s *optionState, v string) (err error) {
		if s.src.Count, err = strconv.ParseUint(v, 10, 64); err != nil {
			return fmt.Errorf("want a number")
		}
		return nil
	},
	"seed": func(s *optionState, v string) (err error) {
		if s.src.Seed, err = strconv.ParseUint(v, 10, 64); err != nil {
			return fmt.Errorf("want a number")
		}
		return nil
	},
	"txdelay": func(s *optionState, v string) (err error) {
		if s.cfg.TxDelay, err = time.ParseDuration(v); err != nil || s.cfg.TxDelay < 0 || s.cfg.TxDelay > time.Hour {
			return fmt.Errorf("want a time like 10us")
		}
		return nil
	},
}
