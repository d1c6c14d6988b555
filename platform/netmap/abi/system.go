// SPDX-License-Identifier: Apache-2.0

package abi

// System is what a client asks about the interface behind a port, and the few
// things it may change there. The operating system's answers come from its own
// calls; a Kernel that has its own interfaces (nmsim) implements System itself,
// and is then asked instead.
type System interface {
	// Interface describes an interface; an error when there is none of the name.
	Interface(name string) (IfInfo, error)
	SetMTU(name string, mtu int) error
	SetPromisc(name string, on bool) error
	SetMAC(name string, mac [6]byte) error
	// Watch calls f whenever the interface goes down, up, or away, from a goroutine of
	// its own, and once with the state at the time of the call, before Watch
	// returns. stop ends it; f is not called after stop has returned.
	Watch(name string, f func(IfState)) (stop func(), err error)
}

// IfState is what a client must know before it makes a call that could block.
type IfState struct {
	Up      bool // administratively up
	Running bool // carrier
	Gone    bool // the interface was removed
}

// IfInfo describes an interface.
type IfInfo struct {
	IfState
	Promisc  bool
	Loopback bool
	// Native: the driver has netmap code of its own; false is emulation (every
	// frame is copied, VLAN tags may be lost).
	Native bool
	// MultiSlot: the driver sends and receives a frame in several slots.
	MultiSlot bool
	MTU       int      // without the Ethernet header
	MAC       [6]byte  // zero = none
	Speed     int      // Mbit/s, 0 = unknown
	Duplex    uint8    // 0 = unknown, 1 half, 2 full
	Autoneg   uint8    // 0 = unknown, 1 off, 2 on
	PauseRx   uint8    // as Autoneg
	PauseTx   uint8    // as Autoneg
	Media     string   // "copper", "fibre", "" = unknown
	Driver    string   // kernel driver, "" = unknown
	Master    string   // bridge or bond that holds it, "" = none
	RxSlots   int      // descriptors as configured, 0 = unknown
	TxSlots   int      //
	Offloads  []string // offloads that are on and disturb netmap, in the system's words ("tso", "rxvlan")
	Cure      string   // the command that turns them off
}
