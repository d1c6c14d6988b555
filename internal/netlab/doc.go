// SPDX-License-Identifier: Apache-2.0

// Package netlab builds small networks of namespaces and veth pairs for the tests of
// the platforms for real interfaces. Each host is a namespace with a thread in it; all
// of it is gone when the test ends.
//
//	l := netlab.Line(t, netlab.Config{})
//
//	 host A            forwarder             host B
//	 10.9.0.1/24                             10.9.0.2/24
//	 fd09::1/64                              fd09::2/64
//	  [a0]────veth────[f0]      [f1]────veth────[b0]
package netlab
