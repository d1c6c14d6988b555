// SPDX-License-Identifier: Apache-2.0

package pktio_test

import (
	"context"
	"strings"
	"testing"

	"github.com/odp-go/godp/internal/testkit"
	"github.com/odp-go/godp/pktio"
	"github.com/odp-go/godp/worker"
)

// A device is known by its network namespace and its name: the same name in another
// namespace is another device, and in the same one it is held.
func TestDevicesOfNamespaces(t *testing.T) {
	testkit.Need(t, testkit.NetNS)
	open := func() (*pktio.Port, *worker.Set, error) {
		set, err := worker.NewSet(4)
		if err != nil {
			t.Fatal(err)
		}
		p, err := pktio.Open(context.Background(), set, "loop:ns", pktio.Config{})
		return p, set, err
	}
	p, set, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	defer p.Close()
	_, held, err := open()
	if err == nil || !strings.Contains(err.Error(), "open") {
		t.Errorf("the same device twice in one namespace: %v", err)
	}
	held.Close()
	testkit.InNetNS(t, func() {
		q, set, err := open()
		if err != nil {
			t.Errorf("the same name in another namespace: %v", err)
			return
		}
		if err := q.Close(); err != nil {
			t.Error(err)
		}
		set.Close()
	})
}
