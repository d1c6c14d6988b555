// SPDX-License-Identifier: Apache-2.0

package netlab

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/odp-go/godp/queue"
)

// Overload sends more from both sides than f forwards: afterwards lone packets pass as before,
// and at the end no packet is missing.
func (l *Lab) Overload(t *testing.T, f *Forwarder) {
	t.Helper()
	Ping(t, l.A, AddrB, 56, 10*time.Second)
	d := 300 * time.Millisecond
	if !testing.Short() {
		d = 10 * time.Second
	}
	sent := Flood(d, l.A.Raw("a0"), l.B.Raw("b0"))
	for range 3 {
		if _, ok := Ping(t, l.A, AddrB, 56, 20*time.Second); !ok {
			t.Fatalf("no ping after an overload of %d frames: %v", sent, f.Ports[0].Stats().Device)
		}
	}
	// frames that the kernel dropped before the socket are in nobody's counters
	if n := f.Ports[0].Stats().RxPackets() + f.Ports[1].Stats().RxPackets(); n < 1000 {
		t.Errorf("%d frames were sent, %d received", sent, n)
	}
	if err := f.Stop(); err != nil {
		t.Error(err)
	}
}

// Remove deletes the interface of f's first port while frames arrive. The run of a
// forwarder in burst mode must then end with an error that names the device; device is
// that name, or "" when the run goes on.
func (l *Lab) Remove(t *testing.T, f *Forwarder, device string) {
	t.Helper()
	a := l.A.Raw("a0")
	Ping(t, l.A, AddrB, 100, 10*time.Second)
	stop, ended := make(chan bool), make(chan bool)
	go func() {
		defer close(ended)
		frame := append(bytes.Repeat([]byte{2}, 12), bytes.Repeat([]byte{0x88, 0xb5}, 40)...)
		for {
			select {
			case <-stop:
				return
			default:
				a.Send(frame)
			}
		}
	}()
	time.Sleep(20 * time.Millisecond)
	l.A.Delete("a0") // f0 goes with it
	if device != "" {
		err, ok := f.Wait(10 * time.Second)
		if !ok || !errors.Is(err, queue.ErrFaulted) || !strings.Contains(err.Error(), device+": the interface was removed") {
			t.Errorf("the run ended: %v, with %v", ok, err)
		}
	}
	close(stop)
	<-ended
	f.Stop()
}
