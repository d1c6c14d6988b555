// SPDX-License-Identifier: Apache-2.0

package driver

import "fmt"

// Link is the state of the link, as far as the device tells it. (ODP:
// odp_pktio_link_info_t.)
type Link struct {
	Up      bool
	Known   bool   // Up says something
	Speed   int    // Mbit/s, 0 = unknown
	Duplex  Duplex //
	Autoneg Switch // speed and duplex are negotiated with the other side
	PauseRx Switch // the device stops sending when the other side asks for it
	PauseTx Switch // the device asks the other side to stop sending
	Media   string // "copper", "fibre", "virtual"; "unknown", never empty in what a port tells
}

// Duplex says whether both sides may send at the same time.
type Duplex uint8

// The kinds of duplex.
const (
	DuplexUnknown Duplex = iota
	DuplexHalf
	DuplexFull
)

var duplexNames = [...]string{"unknown", "half", "full"}

// String returns unknown, half or full.
func (d Duplex) String() string {
	if int(d) < len(duplexNames) {
		return duplexNames[d]
	}
	return fmt.Sprintf("Duplex(%d)", uint8(d))
}

// Switch is a setting that may be unknown.
type Switch uint8

// The states of a Switch.
const (
	SwitchUnknown Switch = iota
	SwitchOff
	SwitchOn
)

var switchNames = [...]string{"unknown", "off", "on"}

// String returns unknown, off or on.
func (s Switch) String() string {
	if int(s) < len(switchNames) {
		return switchNames[s]
	}
	return fmt.Sprintf("Switch(%d)", uint8(s))
}

// Virtual is the link of a device in memory: up, both ways at once, nothing negotiated.
func Virtual() Link {
	return Link{Up: true, Known: true, Duplex: DuplexFull, Autoneg: SwitchOff, PauseRx: SwitchOff, PauseTx: SwitchOff, Media: "virtual"}
}

// String says the link in a line.
func (l Link) String() string {
	state := "unknown"
	if l.Known && l.Up {
		state = "up"
	} else if l.Known {
		state = "down"
	}
	return fmt.Sprintf("%s, %d Mbit/s, duplex %v, autoneg %v, pause rx %v tx %v, media %s", state, l.Speed, l.Duplex, l.Autoneg, l.PauseRx, l.PauseTx, l.Media)
}
