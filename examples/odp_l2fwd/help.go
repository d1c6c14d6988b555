// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
)

func usage(w io.Writer) { fmt.Fprint(w, helpText) }

const helpText = `odp_l2fwd: forward packets between interfaces (layer 2)

  odp_l2fwd [-t SEC] [-c N] [-lock L]    demonstration: two in-process netmap NIC ports with source
                                         and sink, 5 s in burst mode, 5 s in queue mode, and a proof
  odp_l2fwd -i IF,IF[,...] [options]     forward between real or in-process interfaces

Interfaces (KIND:DEVICE):
  netmap:eth0  netmap:eth0-2 (ring)  netmap:eth0^ (host)  vale0:a  netmap:x{1 netmap:x}1 (pipe)
  afpacket:eth0     any Linux interface, through packet sockets
  afxdp:eth0        the same through AF_XDP, past the host's own stack
  tap:tap0          an interface of this host whose other end is the program
  pcap:in=FILE,out=FILE   replays a capture, captures what is sent (either may be left out)
  fault(loss=1%):IF  pcapdump(FILE):IF  trace():IF   any of these, with faults, or recorded
  nmsim:...    the in-process netmap with the same names
  loop:0?seed=512   what is sent comes back; seed puts packets into circulation
  null:0            swallows everything

Options as odp_l2fwd's (letters are not joined; each takes its value after a space or '='):
  -i LIST    interfaces, separated by commas
  -m MODE    0 burst: a worker receives and sends bursts itself (default)
             1 parallel | 2 atomic (= queue, the queue mode) | 3 ordered: through the scheduler
             4 plain: through plain event queues; the names work as well
  -o 0|1     send directly (0) or through the output's queue interface (1)
  -O LIST    output interface for each interface of -i, by its name; what follows a '?' may be
             left out (default: first and second to each other, and so on; odd: round)
  -c N       workers (default 1; 0 = all CPUs of the process)
  -t SEC     run so long (default 0: until SIGINT or SIGTERM)
  -a SEC     seconds between reports (default 1; 0 = none)
  -d 0|1     write the destination MAC (default 1: 02:00:00:00:00:NN, NN = output interface)
  -s 0|1     write the source MAC (default 1: the output interface's)
  -r LIST    destination MACs, one for each interface
  -b N       most packets in a burst (default 32, at most 256)
  -g N       scheduler groups: 0 = all threads, -1 = workers, N = N own groups (scheduled modes)
  -q N       receive queues per interface in the scheduled modes (0 = one per worker)
  -e 0|1     drop packets with header errors (default 0)
  -p 0|1     copy each packet (default 0)
  -n N       packets in the pool (default 16384)
  -P 0|1     promiscuous mode
  -F N       read the first byte of N 64-byte blocks of each packet before the rewrite (default 0:
             the parser has read the first block already; Go has no prefetch)
  -v         print what was got from each device, and the share of time under locks
  -h         this text
and beside ODP's:
  -lock L      pktio | device | queue | none (default queue; none is refused on a shared ring)
  -share S     more workers than interfaces: queues = more queues, handles = the interface opened again
  -idle P      busy | adaptive (sleep when there is nothing to do)
  -drain T     how long the end waits for packets still on their way (default 2s)
  -zerocopy=false   take packets from a pool of their own and copy
  -take-over   open an interface though it carries the default route or the SSH connection in
               use, or is a member of a bridge or bond
  -json        one JSON object on standard output, nothing else there

As root the workers run at nice -20 when they leave a CPU to the rest of the program.

Once every -a seconds:  N pps, M max pps, R rx drops, T tx drops
At the end:             TEST RESULT: N maximum packets per second.
Exit status: 0 good, 1 a run-time fault or nothing forwarded with -t, 2 a wrong command line.
`
