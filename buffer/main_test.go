// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// No test may leave a pool or a goroutine.
func TestMain(m *testing.M) {
	code := m.Run()
	Pools(func(p *Pool) {
		fmt.Printf("pool %q is left open\n", p.Name())
		code = 1
	})
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Println(err)
		code = 1
	}
	os.Exit(code)
}
