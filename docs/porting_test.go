// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The C program of porting compiles without a warning where ODP's headers are.
func TestPortingCompiles(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler")
	}
	flags := strings.Fields(os.Getenv("ODP_CFLAGS"))
	if len(flags) == 0 {
		out, err := exec.Command("pkg-config", "--cflags", "libodp-linux").Output()
		if err != nil {
			t.Skip("no headers of ODP: pkg-config knows no libodp-linux, and ODP_CFLAGS is not set")
		}
		flags = strings.Fields(string(out))
	}
	args := append([]string{"-c", "-Wall", "-Wextra", "-Werror", "-o", filepath.Join(t.TempDir(), "reflect.o")}, flags...)
	if out, err := exec.Command(cc, append(args, "porting/reflect.c")...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
