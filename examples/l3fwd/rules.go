// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// route is a line of a rule file: R198.18.1.0/24 1
type route struct {
	prefix netip.Prefix
	port   int
}

// readRules reads the routes of a rule file, whose form is that of DPDK's l3fwd:
//
//	# a comment
//	R198.18.0.0/24 0
//	R2001:200:0:1::/64	1
//
// An error names the file and the line. A file without a route is one.
func readRules(file string, v4 bool) ([]route, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []route
	sc := bufio.NewScanner(f)
	n := 0
	for sc.Scan() {
		n++
		line := strings.TrimRight(sc.Text(), "\r")
		switch {
		case strings.TrimSpace(line) == "" || line[0] == '#':
			continue
		case line[0] == '@':
			err = fmt.Errorf("an ACL entry: ACL is not supported")
		case line[0] != 'R':
			err = fmt.Errorf("%q: a line begins with R (a route) or # (a comment)", clip(line))
		default:
			var r route
			if r, err = parseRoute(line[1:], v4); err == nil {
				list = append(list, r)
				continue
			}
		}
		return nil, fmt.Errorf("%s:%d: %w", file, n, err)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", file, n+1, err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no route in %d lines: a route looks like R%s 1", file, n, exampleRoute(v4))
	}
	return list, nil
}

func exampleRoute(v4 bool) string {
	if v4 {
		return "198.18.1.0/24"
	}
	return "2001:200:0:1::/64"
}

func clip(s string) string { return s[:min(len(s), 40)] }

func parseRoute(s string, v4 bool) (r route, err error) {
	field := strings.Fields(s)
	if len(field) != 2 || s[0] == ' ' || s[0] == '\t' {
		return r, fmt.Errorf("%q: a route is R, an address with its length, and a port: R%s 1", clip("R"+s), exampleRoute(v4))
	}
	r.prefix, err = netip.ParsePrefix(field[0])
	if err != nil || r.prefix.Addr().Is4() != v4 {
		return r, fmt.Errorf("%q is no prefix of the family of this file, such as %s", clip(field[0]), exampleRoute(v4))
	}
	r.prefix = r.prefix.Masked()
	port, err := strconv.ParseUint(field[1], 10, 8)
	if err != nil {
		return r, fmt.Errorf("port %q: allowed are 0 to 255", clip(field[1]))
	}
	r.port = int(port)
	return r, nil
}

// builtin are the routes without a rule file: 198.18.i.0/24 and 2001:200:0:i::/64 to
// port i, i from 0 to 15 (198.18.0.0/15 is for benchmarks, RFC 2544).
func builtin(v4 bool) (list []route) {
	for i := range 16 {
		p := netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18, byte(i), 0}), 24)
		if !v4 {
			p = netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20, 1, 2, 0, 0, 0, 0, byte(i)}), 64)
		}
		list = append(list, route{p, i})
	}
	return list
}
