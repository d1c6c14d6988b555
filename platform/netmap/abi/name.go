// SPDX-License-Identifier: Apache-2.0

package abi

import (
	"fmt"
	"strconv"
	"strings"
)

// Kind is the kind of a port, as far as its name tells.
type Kind uint8

// The kinds of port.
const (
	KindNIC  Kind = iota // an interface of the system, native or emulated
	KindVALE             // port of an in-kernel switch
	KindPipe             // one end of a pipe
	KindNull             // memory only
)

func (k Kind) String() string { return [...]string{"NIC", "VALE", "pipe", "null"}[k] }

// Spec is a port in its structured form: what a name says, and also what no
// name can say (an interface called "br-lan"). The kernel gets exactly these fields.
type Spec struct {
	Port   string // the kernel's name: "eth0", "vale0:a", "eth0{1"
	Mode   uint32 // ModeAllNIC ...; 0 counts as ModeAllNIC
	Ring   uint16 // of ModeOneNIC and ModeOneSW
	Flags  uint64 // Flag...
	MemID  uint16 // wanted region, 0 = default
	Option string // what followed an '@' that is no memory id
}

// Kind returns the kind of the port.
func (s Spec) Kind() Kind {
	switch {
	case s.Mode == ModeNull:
		return KindNull
	case strings.ContainsAny(s.Port, "{}"):
		return KindPipe
	case strings.HasPrefix(s.Port, "vale") && strings.Contains(s.Port, ":"):
		return KindVALE
	}
	return KindNIC
}

// Host reports whether the port's host rings are bound, NIC whether its NIC rings are.
func (s Spec) Host() bool { return s.Mode == ModeSW || s.Mode == ModeNICSW || s.Mode == ModeOneSW }

// NIC reports whether NIC rings are bound.
func (s Spec) NIC() bool {
	return s.Mode == 0 || s.Mode == ModeAllNIC || s.Mode == ModeNICSW || s.Mode == ModeOneNIC
}

// String is the name in the grammar of ParseName, as far as there is one.
func (s Spec) String() string {
	b := s.Port
	switch s.Mode {
	case ModeOneNIC:
		b += "-" + strconv.Itoa(int(s.Ring))
	case ModeSW:
		b += "^"
	case ModeOneSW:
		b += "^" + strconv.Itoa(int(s.Ring))
	case ModeNICSW:
		b += "*"
	}
	fl := ""
	for _, f := range flagLetters {
		if s.Flags&f.bit != 0 {
			fl += string(f.letter)
		}
	}
	if fl != "" {
		b += "/" + fl
	}
	if s.MemID != 0 {
		b += "@" + strconv.Itoa(int(s.MemID))
	}
	if s.Option != "" {
		b += "@" + s.Option
	}
	return b
}

var flagLetters = [...]struct {
	letter byte
	bit    uint64
	name   string
}{
	{'x', FlagExclusive, "exclusive"}, {'z', FlagZcopyMon, "zero-copy monitor"},
	{'t', FlagMonitorTX, "monitor tx"}, {'r', FlagMonitorRX, "monitor rx"},
	{'T', FlagTxRingsOnly, "tx rings only"}, {'R', FlagRxRingsOnly, "rx rings only"},
}

// NameError says what is wrong with a port name, and where.
type NameError struct {
	Name  string // what was parsed
	Found string // the part that is wrong
	Want  string // what is allowed there
}

func (e *NameError) Error() string {
	return fmt.Sprintf("netmap port name %q: %s: %s", e.Name, e.Found, e.Want)
}

const grammar = "a name is IF, IF-N (ring), IF^ or IF^N (host rings), IF* (NIC and host), IF{ID or IF}ID (pipe), valeS:P (switch port); then /FLAGS of x z t r T R, @MEMID"

// ParseName parses a port name in the grammar of netmap's own library. The text
// may have the prefix "netmap:" or "nmsim:", which is not part of the kernel's name:
//
//	IF            all NIC rings        IF-N    NIC ring N (0 to 4094)
//	IF^  IF^N     host rings           IF*     NIC and host rings
//	IF{ID  IF}ID  pipe, master, slave  valeS:P port P of switch valeS
//	/x exclusive /z zero-copy monitor /t /r monitor tx, rx /T /R tx, rx rings only
//	@N            memory region N      @TEXT   an option, kept in Spec.Option
//
// Unlike the library it takes VALE names behind the prefix as well. An interface
// whose name holds one of - * ^ / @ needs the structured form (FromOptions).
func ParseName(name string) (Spec, error) {
	s := Spec{Mode: ModeAllNIC}
	fail := func(found, want string) (Spec, error) {
		return Spec{}, &NameError{name, found, want}
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(name, "netmap:"), "nmsim:")
	end := strings.IndexAny(rest, "-*^/@")
	if end < 0 {
		end = len(rest)
	}
	s.Port, rest = rest[:end], rest[end:]
	if err := checkPort(name, s.Port); err != nil {
		return Spec{}, err
	}
	if rest != "" {
		var bad string
		switch c := rest[0]; c {
		case '-', '^':
			i := 1
			for i < len(rest) && rest[i] >= '0' && rest[i] <= '9' {
				i++
			}
			num := rest[1:i]
			rest = rest[i:]
			switch n, err := strconv.Atoi(num); {
			case c == '^' && num == "":
				s.Mode = ModeSW
			case err != nil || n > MaxRingNumber:
				bad = string(c) + num
			case c == '^':
				s.Mode, s.Ring = ModeOneSW, uint16(n)
			default:
				s.Mode, s.Ring = ModeOneNIC, uint16(n)
			}
		case '*':
			s.Mode, rest = ModeNICSW, rest[1:]
		}
		if bad != "" {
			return fail("ring number "+strconv.Quote(bad), fmt.Sprintf("0 to %d; an interface whose name has a %q is opened with ?mode=nic behind the name", MaxRingNumber, bad[:1]))
		}
		if rest != "" && rest[0] != '/' && rest[0] != '@' {
			return fail("unexpected "+strconv.Quote(rest), "only /FLAGS and @MEMID may follow the ring; "+grammar)
		}
	}
	for rest != "" {
		c := rest[0]
		rest = rest[1:]
		end := strings.IndexAny(rest, "/@")
		if c == '@' && (rest == "" || rest[0] < '0' || rest[0] > '9') {
			if rest == "" {
				return fail("nothing after @", "a memory id of 1 to 65535")
			}
			s.Option = rest
			break
		}
		if end < 0 {
			end = len(rest)
		}
		part := rest[:end]
		rest = rest[end:]
		if c == '/' {
			for i := 0; i < len(part); i++ {
				if !s.addFlag(part[i]) {
					return fail("flag "+strconv.Quote(part[i:i+1]), "one of x z t r T R")
				}
			}
			continue
		}
		n, err := strconv.Atoi(part)
		switch {
		case err != nil || n < 1 || n > 65535:
			return fail("memory id "+strconv.Quote(part), "1 to 65535")
		case s.MemID != 0 && s.MemID != uint16(n):
			return fail(fmt.Sprintf("memory ids %d and %d", s.MemID, n), "one id")
		}
		s.MemID = uint16(n)
	}
	return s, s.check(name)
}

func (s *Spec) addFlag(c byte) bool {
	for _, f := range flagLetters {
		if f.letter == c {
			s.Flags |= f.bit
			return true
		}
	}
	return false
}

func checkPort(name, port string) error {
	body := port
	if strings.HasPrefix(port, "vale") && strings.Contains(port, ":") {
		sw, p, _ := strings.Cut(port, ":")
		if err := checkVale(name, sw, p); err != nil {
			return err
		}
		body = p
	}
	base, id := body, ""
	if i := strings.IndexAny(body, "{}"); i >= 0 {
		base, id = body[:i], body[i+1:]
		if strings.ContainsAny(id, "{}") {
			return &NameError{name, "two pipe marks in " + strconv.Quote(body), "one of { (master) or } (slave)"}
		}
	}
	switch {
	case base == "":
		return &NameError{name, "no interface", grammar}
	case len(port) > NameSize-1:
		return &NameError{name, fmt.Sprintf("%d bytes", len(port)), fmt.Sprintf("at most %d", NameSize-1)}
	case id == "" && len(base) > IfNameSize-1 && body == port && base == port:
		return &NameError{name, fmt.Sprintf("interface name of %d bytes", len(base)), fmt.Sprintf("at most %d", IfNameSize-1)}
	case strings.Contains(base, ":"):
		return &NameError{name, "a colon", "only after the name of a VALE switch; " + grammar}
	case strings.ContainsAny(port, " \t\n\x00"):
		return &NameError{name, "blank or control character", grammar}
	}
	return nil
}

// checkVale holds the rules of switch and port names: letters, digits and
// underscores; the switch with its colon, and the whole, below 16 bytes.
func checkVale(name, sw, port string) error {
	plain := port
	if i := strings.IndexAny(port, "{}"); i >= 0 {
		plain = port[:i]
	}
	for _, c := range sw + plain {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_') {
			return &NameError{name, "character " + strconv.QuoteRune(c), "VALE switch and port names are of 0-9 A-Z a-z _"}
		}
	}
	if n := len(sw) + 1 + len(plain); n > IfNameSize-1 {
		return &NameError{name, fmt.Sprintf("VALE name of %d bytes", n), fmt.Sprintf("at most %d with the colon", IfNameSize-1)}
	}
	return nil
}

func (s Spec) check(name string) error {
	const dirs = FlagTxRingsOnly | FlagRxRingsOnly
	switch {
	case s.Flags&dirs == dirs:
		return &NameError{name, "flags T and R", "one of them: tx rings only, or rx rings only"}
	case s.Host() && s.Kind() != KindNIC:
		return &NameError{name, "host rings of a " + s.Kind().String() + " port", "host rings exist on interfaces only"}
	}
	return nil
}

// ModeNames are the words of the option "mode" of FromOptions.
var ModeNames = map[string]uint32{
	"nic": ModeAllNIC, "host": ModeSW, "nic+host": ModeNICSW, "ring": ModeOneNIC, "hostring": ModeOneSW,
}

// FromOptions is the structured form in a device name: with the option mode
// (nic, host, nic+host, ring, hostring) the port's name is taken literally, and
// ring=N, mem=N and flags=LETTERS say the rest: "netmap:br-lan?mode=ring&ring=2".
// Without the option mode the name is parsed. Other options are ignored.
func FromOptions(name string, opt map[string]string) (Spec, error) {
	word, ok := opt["mode"]
	if !ok {
		return ParseName(name)
	}
	s := Spec{Port: name}
	if s.Mode, ok = ModeNames[word]; !ok {
		return Spec{}, &NameError{name, "mode " + strconv.Quote(word), "nic, host, nic+host, ring or hostring"}
	}
	if name == "" || len(name) > NameSize-1 {
		return Spec{}, &NameError{name, fmt.Sprintf("%d bytes", len(name)), fmt.Sprintf("1 to %d", NameSize-1)}
	}
	num := func(key string, lo, hi int) (uint16, error) {
		v, ok := opt[key]
		if !ok {
			return 0, nil
		}
		n, err := strconv.Atoi(v)
		if err != nil || n < lo || n > hi {
			return 0, &NameError{name, key + "=" + v, fmt.Sprintf("%d to %d", lo, hi)}
		}
		return uint16(n), nil
	}
	var err error
	if s.Ring, err = num("ring", 0, MaxRingNumber); err != nil {
		return Spec{}, err
	}
	if s.MemID, err = num("mem", 1, 65535); err != nil {
		return Spec{}, err
	}
	for _, c := range []byte(opt["flags"]) {
		if !s.addFlag(c) {
			return Spec{}, &NameError{name, "flag " + strconv.Quote(string(c)), "one of x z t r T R"}
		}
	}
	return s, s.check(name)
}
