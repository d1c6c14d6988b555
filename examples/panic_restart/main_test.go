// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/odp-go/godp/odptest"
)

func TestMain(m *testing.M) { odptest.Main(m) }

// message is a frame whose message says it has n bytes of text.
func message(seq int, n byte) []byte {
	b := odptest.Frame{Seq: uint32(seq)}.Bytes()
	b[lengthAt] = n
	return b
}

// Without arguments: the second burst has the bad frame, and is lost.
func TestDefaults(t *testing.T) {
	var out, errs bytes.Buffer
	rc := Main(nil, &out, &errs)
	const want = "16 received, 8 sent, 105 bytes of text; 1 panics, 1 restarts, 8 packets lost in the worker's hands\n"
	if rc != 0 || out.String() != want {
		t.Errorf("exit status %d: %s%s, want %s", rc, out.String(), errs.String(), want)
	}
}

// Each bad frame costs the burst that it is in, and nothing else.
func TestGoesOn(t *testing.T) {
	in, to := odptest.NewDevice(t, odptest.DeviceConfig{}), odptest.NewDevice(t, odptest.DeviceConfig{})
	var want [][]byte
	for burst := range 6 {
		for i := range 8 {
			f := message(burst*8+i, 2)
			if burst%2 == 1 && i == burst {
				f = message(burst*8+i, 200)
			}
			in.Inject(f)
			if burst%2 == 0 {
				want = append(want, f)
			}
		}
	}
	var out, errs bytes.Buffer
	if rc := Main([]string{"-i", in.Name(), "-o", to.Name(), "-n", "48"}, &out, &errs); rc != 0 {
		t.Fatalf("exit status %d: %s", rc, errs.String())
	}
	odptest.Equal(t, to.Frames(), want)
	if !strings.Contains(out.String(), "48 received, 24 sent, ") || !strings.Contains(out.String(), "; 3 panics, 3 restarts, 24 packets lost") {
		t.Error(out.String())
	}
}

// Too many restarts end the program, with the panic as its error.
func TestLimit(t *testing.T) {
	in := odptest.NewDevice(t, odptest.DeviceConfig{})
	for i := range 32 {
		in.Inject(message(i, 255))
	}
	var out, errs bytes.Buffer
	rc := Main([]string{"-i", in.Name(), "-n", "32", "-limit", "2"}, &out, &errs)
	if rc != 1 || !strings.Contains(errs.String(), "panicked too often") || !strings.Contains(errs.String(), "slice bounds out of range") {
		t.Errorf("exit status %d: %s%s", rc, out.String(), errs.String())
	}
	if want := "24 received, 0 sent, 0 bytes of text; 3 panics, 2 restarts, 24 packets lost"; !strings.HasPrefix(out.String(), want) {
		t.Errorf("%s, want %s", out.String(), want)
	}
	if n := in.Pending(); n != 8 {
		t.Errorf("%d frames left in the device, want 8", n)
	}
}

func TestBadOptions(t *testing.T) {
	for args, want := range map[string]int{"-h": 0, "-x": 2, "-o nodev:0": 1} {
		var out, errs bytes.Buffer
		if rc := Main(strings.Fields(args), &out, &errs); rc != want || (rc != 0) != (errs.Len() > 0) {
			t.Errorf("%s: exit status %d, want %d: %s", args, rc, want, errs.String())
		}
	}
}
