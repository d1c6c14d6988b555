// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/odp-go/godp/internal/arena"
)

// TestMain fails when the tests leave a goroutine or a mapping behind.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if code == 0 && flag.Lookup("test.run").Value.String() == "" {
		if err := goleak.Find(); err != nil {
			fmt.Println("goroutines are left:", err)
			code = 1
		}
		for _, r := range arena.OpenRanges() {
			fmt.Printf("a mapping is left: %s, %d bytes at %d\n", r.Name, r.Size, r.Off)
			code = 1
		}
	}
	os.Exit(code)
}
