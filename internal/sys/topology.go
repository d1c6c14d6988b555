// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"encoding/xml"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// CPU is the place of one CPU.
type CPU struct {
	ID       int
	Core     int    // number of the core in its package, -1 unknown
	Package  int    // socket, -1 unknown
	Node     int    // NUMA node, -1 unknown
	Siblings CPUSet // hardware threads of the same core, itself included
}

// Topology is the CPUs of the system. What is unknown is empty.
type Topology struct {
	Online   CPUSet
	Isolated CPUSet // isolcpus=: nothing runs there unless pinned
	NoHz     CPUSet // nohz_full=: no timer tick while one thread runs
	CPUs     []CPU  // online ones, by ID
}

// ReadTopology reads Linux's description under /sys; systems without it have one
// thread per core (FreeBSD: see ParseTopologySpec).
func ReadTopology(fsys fs.FS) (Topology, error) {
	const dir = "sys/devices/system/cpu"
	t := Topology{
		Online:   cpuFile(fsys, dir+"/online"),
		Isolated: cpuFile(fsys, dir+"/isolated"),
		NoHz:     cpuFile(fsys, dir+"/nohz_full"),
	}
	if t.Online.Empty() {
		return t, fmt.Errorf("cpu topology: /%s/online: %w", dir, ErrNotSupported)
	}
	node := map[int]int{}
	lists, _ := fs.Glob(fsys, "sys/devices/system/node/node[0-9]*/cpulist")
	for _, l := range lists {
		n, err := strconv.Atoi(strings.TrimPrefix(path.Base(path.Dir(l)), "node"))
		if err != nil {
			continue
		}
		for _, c := range cpuFile(fsys, l).List() {
			node[c] = n
		}
	}
	for _, id := range t.Online.List() {
		d := fmt.Sprintf("%s/cpu%d/topology/", dir, id)
		c := CPU{ID: id, Core: integer(fsys, d+"core_id", -1), Package: integer(fsys, d+"physical_package_id", -1), Node: -1}
		if n, ok := node[id]; ok {
			c.Node = n
		}
		c.Siblings = cpuFile(fsys, d+"thread_siblings_list")
		c.Siblings.Add(id)
		t.CPUs = append(t.CPUs, c)
	}
	return t, nil
}

// NodeOf returns the NUMA node of a network interface, -1 if it has none.
func NodeOf(fsys fs.FS, ifname string) int {
	return integer(fsys, "sys/class/net/"+ifname+"/device/numa_node", -1)
}

// Spread orders the CPUs of a set for workers: one thread of every core first, then
// their siblings, so that n workers share as few cores as possible; CPU 0 last of
// its kind, where interrupts and everybody else live.
func (t Topology) Spread(set CPUSet) []int {
	type place struct{ cpu, rank int }
	var places []place
	for _, id := range set.List() {
		rank := 0
		for _, c := range t.CPUs {
			if c.ID == id {
				for _, sib := range c.Siblings.And(set).List() {
					if sib < id {
						rank++
					}
				}
			}
		}
		places = append(places, place{id, rank})
	}
	var order []int
	for rank := 0; len(order) < len(places); rank++ {
		first := -1
		for _, p := range places {
			if p.rank != rank {
				continue
			}
			if p.cpu == 0 {
				first = 0
				continue
			}
			order = append(order, p.cpu)
		}
		if first == 0 {
			order = append(order, 0)
		}
	}
	return order
}

// ParseTopologySpec reads FreeBSD's sysctl kern.sched.topology_spec: nested groups of
// CPUs; groups flagged THREAD or SMT share a core.
func ParseTopologySpec(spec string) (Topology, error) {
	type group struct {
		CPU struct {
			List string `xml:",chardata"`
		} `xml:"cpu"`
		Flags []struct {
			Name string `xml:"name,attr"`
		} `xml:"flags>flag"`
		Children []struct {
			Inner string `xml:",innerxml"`
		} `xml:"children"`
	}
	type groups struct {
		Group []group `xml:"group"`
	}
	var t Topology
	siblings := map[int]CPUSet{}
	var walk func(text string, depth int) error
	walk = func(text string, depth int) error {
		var gs groups
		if err := xml.Unmarshal([]byte("<g>"+text+"</g>"), &gs); err != nil {
			return fmt.Errorf("kern.sched.topology_spec: %w", err)
		}
		for _, g := range gs.Group {
			set, err := ParseCPUs(strings.ReplaceAll(g.CPU.List, " ", ""))
			if err != nil {
				return fmt.Errorf("kern.sched.topology_spec: %w", err)
			}
			for _, id := range set.List() {
				t.Online.Add(id)
				for _, f := range g.Flags {
					if f.Name == "THREAD" || f.Name == "SMT" || f.Name == "HTT" {
						siblings[id] = set
					}
				}
			}
			for _, c := range g.Children {
				if depth > 16 {
					return fmt.Errorf("kern.sched.topology_spec: nested deeper than 16 groups")
				}
				if err := walk(c.Inner, depth+1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	var outer struct {
		Inner string `xml:",innerxml"`
	}
	if err := xml.Unmarshal([]byte(spec), &outer); err != nil {
		return t, fmt.Errorf("kern.sched.topology_spec: %w", err)
	}
	if err := walk(outer.Inner, 0); err != nil {
		return t, err
	}
	for _, id := range t.Online.List() {
		c := CPU{ID: id, Core: -1, Package: -1, Node: -1, Siblings: siblings[id]}
		c.Siblings.Add(id)
		t.CPUs = append(t.CPUs, c)
	}
	return t, nil
}
