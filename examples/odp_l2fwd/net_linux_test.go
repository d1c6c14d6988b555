// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/odp-go/godp/internal/netlab"
	"github.com/odp-go/godp/odptest"
)

// The network of these tests:
//
//	 host A            forwarder             host B
//	 10.9.0.1/24       odp_l2fwd             10.9.0.2/24
//	  [a0]────veth────[f0]      [f1]────veth────[b0]

// asProgram names the variable that makes this test binary be odp_l2fwd.
const asProgram = "GODP_TEST_L2FWD"

func init() {
	if args := os.Getenv(asProgram); args != "" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		context.AfterFunc(ctx, stop)
		os.Exit(Main(ctx, strings.Fields(args), os.Stdout, os.Stderr))
	}
}

// The program forwards between real interfaces; killed, it leaves nothing behind, and
// started again it forwards again.
func TestRealInterfacesAndKill(t *testing.T) {
	for _, kind := range []string{"afpacket", "afxdp"} {
		t.Run(kind, func(t *testing.T) {
			l := netlab.Line(t, netlab.Config{})
			for round := range 2 {
				cmd := exec.Command("/proc/self/exe")
				cmd.Env = append(os.Environ(), asProgram+"=-i "+kind+":f0,"+kind+":f1 -m queue -d 0 -s 0 -P 1 -a 0 -idle adaptive")
				var errs bytes.Buffer
				cmd.Stdout, cmd.Stderr = io.Discard, &errs
				var err error
				l.F.Do(func() { err = cmd.Start() })
				if err != nil {
					t.Fatal(err)
				}
				if _, ok := netlab.Ping(t, l.A, netlab.AddrB, 100, 20*time.Second); !ok {
					cmd.Process.Kill()
					cmd.Wait()
					t.Fatalf("round %d: no ping: %s", round, errs.String())
				}
				if n := l.F.Promisc("f0"); n != 1 {
					t.Errorf("promiscuous count %d while it runs", n)
				}
				sig := []os.Signal{syscall.SIGKILL, syscall.SIGTERM}[round]
				cmd.Process.Signal(sig)
				ended := make(chan error, 1)
				go func() { ended <- cmd.Wait() }()
				select {
				case err := <-ended:
					if round == 1 && err != nil {
						t.Errorf("SIGTERM: %v: %s", err, errs.String())
					}
				case <-time.After(odptest.Patience):
					cmd.Process.Kill()
					t.Errorf("%v does not end it", sig)
				}
				for end := time.Now().Add(odptest.Patience); l.F.Promisc("f0") != 0; time.Sleep(10 * time.Millisecond) {
					if time.Now().After(end) {
						t.Fatalf("promiscuous count %d after %v", l.F.Promisc("f0"), sig)
					}
				}
			}
		})
	}
}
