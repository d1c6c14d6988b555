// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"strings"
	"testing"

	"github.com/odp-go/godp/examples/internal/opt"
)

func TestOptionsGood(t *testing.T) {
	o, help, err := parseOptions(strings.Fields("-i loop:0,null:in=a,out=b,loop:1 -m queue -c 4 -t 2 -O loop:1,loop:0,null:in=a,out=b -r 02:00:00:00:00:01,02:00:00:00:00:02,02:00:00:00:00:03 -b 0 -lock device -share handles -idle adaptive -json"), io.Discard)
	if err != nil || help {
		t.Fatal(err)
	}
	if len(o.ifs) != 3 || o.ifs[1] != "null:in=a,out=b" {
		t.Errorf("interfaces %q", o.ifs)
	}
	if o.mode != opt.Atomic || o.workers != 4 || o.seconds != 2 || o.burst != 32 || o.lock != "device" || !o.json {
		t.Errorf("%+v", o)
	}
	if o.out[0] != 2 || o.out[1] != 0 || o.out[2] != 1 {
		t.Errorf("output map %v", o.out)
	}
	if o, _, err := parseOptions(nil, io.Discard); err != nil || !o.demo {
		t.Errorf("no arguments: %+v, %v: want the demonstration", o, err)
	}
	for i, m := range []string{"burst", "parallel", "atomic", "ordered", "plain"} {
		o, _, err := parseOptions([]string{"-i", "loop:0", "-m", m}, io.Discard)
		if err != nil || int(o.mode) != i {
			t.Errorf("-m %s: mode %d, %v", m, o.mode, err)
		}
	}
}

// Each wrong command line is refused with a word that tells what is wrong.
func TestOptionsBad(t *testing.T) {
	for args, word := range map[string]string{
		"-i loop:0,,loop:1":          "empty name",
		"-i loop:0,loop:0":           "twice",
		"-i loop:0 -m 5":             "mode is 0",
		"-i loop:0 -m fast":          "mode is 0",
		"-i loop:0 -c -1":            "allowed 0 to",
		"-i loop:0 -c x":             "invalid",
		"-i loop:0 -b 257":           "allowed 1 to 256",
		"-i loop:0 -t -1":            "allowed 0",
		"-i loop:0 -n 0":             "allowed 64",
		"-i loop:0 -d 2":             "0 or 1",
		"-i= -t 1":                   "empty name",
		"-i loop:0 -O=":              "empty name",
		"-i eth0,loop:1":             "unknown kind",
		"-i loop:0?seed -t 1":        "key=value",
		"-i loop:0 -O loop:1":        "not in -i",
		"-i loop:0,loop:1 -O loop:1": "one output for each",
		"-i loop:0 -r aa":            "no MAC",
		"-i loop:0 -r 02:00:00:00:00:01,02:00:00:00:00:02": "2 MAC addresses",
		"-i loop:0 -d 0 -r 02:00:00:00:00:01":              "needs -d 1",
		"-i loop:0 -m 0 -g 2":                              "groups are of the scheduler",
		"-i loop:0 -m plain -g -1":                         "groups are of the scheduler",
		"-i loop:0 -m burst -q 2":                          "-q needs -m parallel",
		"-i loop:0 -m 4 -q 1":                              "-q needs -m parallel",
		"-i loop:0 -m 2 -q 2 -share handles":               "use -share queues",
		"-i loop:0 -lock spin":                             "one of",
		"-i loop:0 -share x":                               "one of",
		"-i loop:0 -idle lazy":                             "one of",
		"-i loop:0 -drain -1s":                             "not negative",
		"-i loop:0 -k 1":                                   "-k is not supported: checksum",
		"-i loop:0 -wait_link 3":                           "-wait_link is not supported",
		"-i loop:0 -Z":                                     "not defined",
		"-i loop:0 rest":                                   "unexpected argument",
		"-m 1":                                             "needs -i",
		"-O loop:1":                                        "needs -i",
	} {
		_, _, err := parseOptions(strings.Fields(args), io.Discard)
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v, want %q", args, err, word)
		} else if opt.Status(err) != opt.ExitUsage {
			t.Errorf("%s: exit status %d, want %d", args, opt.Status(err), opt.ExitUsage)
		}
	}
}

// Help names every option that is accepted.
func TestHelpIsComplete(t *testing.T) {
	var b strings.Builder
	if _, help, err := parseOptions([]string{"-h"}, &b); !help || err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields("-i -m -o -O -c -t -a -d -s -r -b -g -q -e -p -n -P -F -v -h -lock -share -idle -drain -json -zerocopy") {
		if !strings.Contains(b.String(), "  "+name+" ") && !strings.Contains(b.String(), "  "+name+"=") {
			t.Errorf("help does not name %s", name)
		}
	}
}
