// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/odp-go/godp/odptest"
)

func TestMain(m *testing.M) { odptest.Main(m) }

// odp runs the program in this process.
func odp(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = Main(context.Background(), args, &out, &errs)
	return status, out.String(), errs.String()
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		args   string
		status int
		out    string // a part of the standard output
		err    string // a part of the standard error
	}{
		{"", 2, "", "no command given"},
		{"frobnicate", 2, "", `there is no command "frobnicate"`},
		{"help", 0, "conform", ""},
		{"--help", 0, "version", ""},
		{"help conform", 0, "-run expression", ""},
		{"conform --help", 0, "-run expression", ""},
		{"conform -run [", 2, "", "missing closing ]"},
		{"conform -frob", 2, "", "-frob"},
		{"conform more", 2, "", `unexpected argument "more"`},
		{"conform -list -run POOL-01$", 0, "POOL-01", ""},
		{"version", 0, "odp ", ""},
		{"version -json", 0, `"system"`, ""},
	} {
		status, out, errs := odp(t, strings.Fields(c.args)...)
		if status != c.status || !strings.Contains(out, c.out) || !strings.Contains(errs, c.err) || c.err == "" && errs != "" {
			t.Errorf("odp %s: status %d, want %d\nout: %s\nerr: %s", c.args, status, c.status, out, errs)
		}
		if strings.Contains(errs, "goroutine ") {
			t.Errorf("odp %s: a stack trace: %s", c.args, errs)
		}
	}
}

func TestBrokenOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, args := range []string{"help", "version", "version -json", "conform -list", "conform -run POOL-01$", "conform -run POOL-01$ -json"} {
		var errs bytes.Buffer
		if status := Main(context.Background(), strings.Fields(args), full, &errs); status != 1 || !strings.Contains(errs.String(), "no space") {
			t.Errorf("odp %s to a full disk: status %d, %s", args, status, errs.String())
		}
	}
}
