// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"net"
)

// Report is the account of a port, or of several (Add): what its source sent, what its
// sink got. All counts are from the making of the port.
type Report struct {
	Port string

	Injected  uint64 // frames that the source sent, RxMissed included
	Delivered uint64 // intact frames at the sink, duplicates not counted
	Reordered uint64 // of the delivered: behind a later one of the same flow
	Duplicate uint64
	Corrupt   uint64 // frames with a wrong byte, or that no source made
	WrongMAC  uint64 // of the delivered: not the addresses that the sink expects

	RxMissed uint64 // no free slot in the receive ring
	RxUnread uint64 // in receive rings when they were closed
	TxUnsent uint64 // in transmit rings when they were closed
	TxBad    uint64 // slots with an impossible index or length, or under 14 bytes
	Nowhere  uint64 // sent or delivered where nobody receives

	RxFrames, TxFrames uint64 // shown to the client; left the rings
	RxBytes, TxBytes   uint64
	Reinits            uint64 // rings set back for wrong indices
}

// Add returns the sum of two reports.
func (r Report) Add(o Report) Report {
	for _, v := range r.fields(&o) {
		*v[0] += *v[1]
	}
	if r.Port == "" {
		r.Port = o.Port
	} else if o.Port != "" {
		r.Port += "," + o.Port
	}
	return r
}

// Sub returns what was added since an earlier report.
func (r Report) Sub(o Report) Report {
	for _, v := range r.fields(&o) {
		*v[0] -= *v[1]
	}
	return r
}

func (r *Report) fields(o *Report) [][2]*uint64 {
	return [][2]*uint64{
		{&r.Injected, &o.Injected}, {&r.Delivered, &o.Delivered}, {&r.Reordered, &o.Reordered},
		{&r.Duplicate, &o.Duplicate}, {&r.Corrupt, &o.Corrupt}, {&r.WrongMAC, &o.WrongMAC},
		{&r.RxMissed, &o.RxMissed}, {&r.RxUnread, &o.RxUnread}, {&r.TxUnsent, &o.TxUnsent},
		{&r.TxBad, &o.TxBad}, {&r.Nowhere, &o.Nowhere}, {&r.RxFrames, &o.RxFrames}, {&r.TxFrames, &o.TxFrames},
		{&r.RxBytes, &o.RxBytes}, {&r.TxBytes, &o.TxBytes}, {&r.Reinits, &o.Reinits},
	}
}

// Drops returns the frames that the simulated hardware dropped, by reason.
func (r Report) Drops() map[string]uint64 {
	m := map[string]uint64{}
	for _, d := range []struct {
		name string
		n    uint64
	}{{"rx_missed", r.RxMissed}, {"rx_unread_at_close", r.RxUnread}, {"tx_unsent_at_close", r.TxUnsent},
		{"tx_bad_slot", r.TxBad}, {"nowhere", r.Nowhere}} {
		if d.n > 0 {
			m[d.name] = d.n
		}
	}
	return m
}

// Lost is what nobody accounts for: injected - delivered - corrupt - drops here - other,
// where other are the drops that the forwarder counted itself. Frames that are on their way
// count as lost: stop the sources and drain first.
func (r Report) Lost(other uint64) int64 {
	return int64(r.Injected) - int64(r.Delivered+r.Corrupt+r.RxMissed+r.RxUnread+r.TxUnsent+r.TxBad+r.Nowhere+other)
}

// Report returns the account of a port; the zero Report when there is none.
func (w *World) Report(name string) (r Report) {
	w.with(name, func(p *port) error {
		r = p.report()
		return nil
	})
	return r
}

// ReportAll returns the sum over the NIC ports.
func (w *World) ReportAll() (r Report) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.order {
		if p != nil {
			r = r.Add(p.report())
		}
	}
	return r
}

func (p *port) report() (r Report) {
	r.Port = p.name
	for _, k := range p.rx {
		r.RxFrames += k.c.frames.LoadAcq()
		r.RxBytes += k.c.bytes.LoadAcq()
		r.RxMissed += k.c.missed.LoadAcq()
		r.RxUnread += k.c.closed.LoadAcq()
		r.Nowhere += k.c.nowhere.LoadAcq()
		r.Reinits += k.c.reinits.LoadAcq()
		if k.src != nil {
			r.Injected += k.src.injected.LoadAcq()
		}
	}
	for _, k := range p.tx {
		r.TxFrames += k.c.frames.LoadAcq()
		r.TxBytes += k.c.bytes.LoadAcq()
		r.TxUnsent += k.c.closed.LoadAcq()
		r.TxBad += k.c.bad.LoadAcq()
		r.Nowhere += k.c.nowhere.LoadAcq()
		r.Reinits += k.c.reinits.LoadAcq()
		if s := k.sink; s != nil {
			r.Delivered += s.delivered.LoadAcq()
			r.Reordered += s.reordered.LoadAcq()
			r.Duplicate += s.duplicate.LoadAcq()
			r.Corrupt += s.corrupt.LoadAcq()
			r.WrongMAC += s.wrongMAC.LoadAcq()
		}
	}
	return r
}

// FlowReport is what happened to one flow of a source.
type FlowReport struct {
	Source   uint16
	Flow     int
	Injected uint64
	Next     uint64 // the highest number that a sink saw, plus 1
	Missing  uint64 // numbers below Next that did not come to the ring with the highest
}

// Flows returns the flows of a port's source as the sinks saw them. No ring of the ports
// may be in a sync.
func (w *World) Flows(name string) (out []FlowReport) {
	w.with(name, func(p *port) error {
		for _, k := range p.rx {
			s := k.src
			if s == nil {
				continue
			}
			for f := range s.tmpl {
				r := FlowReport{Source: s.id, Flow: f, Injected: s.seq}
				if uint32(f) < s.flow {
					r.Injected++
				}
				w.seen(s.id, f, &r)
				out = append(out, r)
			}
		}
		return nil
	})
	return out
}

func (w *World) seen(id uint16, f int, r *FlowReport) {
	for _, p := range w.order {
		if p == nil {
			continue
		}
		for _, k := range p.tx {
			if k.sink == nil || int(id) >= len(k.sink.table.byID) || f >= len(k.sink.table.byID[id]) {
				continue
			}
			st := k.sink.table.byID[id][f]
			if st.next <= r.Next {
				continue
			}
			r.Next, r.Missing = st.next, 0
			if st.gaps != nil {
				for _, g := range st.gaps.r {
					r.Missing += g.hi - g.lo
				}
			}
		}
	}
}

// Expect sets the addresses that the sink of a port demands; nil = any.
func (w *World) Expect(name string, dst, src net.HardwareAddr) error {
	return w.with(name, func(p *port) error {
		for _, k := range p.tx {
			if k.sink != nil {
				k.lock()
				k.sink.expect(dst, src)
				k.unlock()
			}
		}
		return nil
	})
}

// StopSource ends (or starts again) the frames of a port's source.
func (w *World) StopSource(name string, stop bool) error {
	return w.with(name, func(p *port) error {
		v := uint32(0)
		if stop {
			v = 1
		}
		for _, k := range p.rx {
			if k.src != nil {
				k.src.stop.StoreSeq(v)
				k.notify()
			}
		}
		return nil
	})
}

// Info is what the system knows of a port beside netmap.
type Info struct {
	Name   string
	MAC    net.HardwareAddr
	MTU    int
	Link   bool
	Up     bool
	Bound  int // descriptors
	Source bool
	Sink   bool
}

// Info describes a port; false when there is none.
func (w *World) Info(name string) (i Info, ok bool) {
	err := w.with(name, func(p *port) error {
		i = Info{Name: p.name, MAC: p.cfg.MAC, MTU: p.cfg.MTU, Link: p.linkDown.LoadAcq() == 0, Up: !p.down,
			Bound: p.fds, Source: p.cfg.Source != nil, Sink: p.cfg.Sink != nil}
		return nil
	})
	return i, err == nil
}
