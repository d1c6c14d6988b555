// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"
)

func TestMemoryRoom(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		name, tree string
		change     map[string]string
		bytes      uint64
		file       string
	}{
		{name: "no limit but the machine's", tree: "vm", bytes: 24189592 << 10, file: "/proc/meminfo"},
		{name: "container, cache is reclaimed", tree: "pod", bytes: (512 - 100) * mib, file: "/sys/fs/cgroup/memory.max"},
		{name: "slice above", tree: "service", bytes: 1<<30 - 1000341504, file: "/sys/fs/cgroup/fast.slice/memory.high"},
		{name: "version 1 container", tree: "docker1", bytes: (256 - 96) * mib, file: "/sys/fs/cgroup/memory/memory.limit_in_bytes"},
		{name: "version 1 parent", tree: "vm", change: map[string]string{"sys/fs/cgroup/memory/job/memory.limit_in_bytes": "1048576", "sys/fs/cgroup/memory/job/memory.usage_in_bytes": "48576"}, bytes: 1000000, file: "/sys/fs/cgroup/memory/job/memory.limit_in_bytes"},
		{name: "used above the limit", tree: "pod", change: map[string]string{"sys/fs/cgroup/memory.current": "1000000000"}, bytes: 0, file: "/sys/fs/cgroup/memory.max"},
		{name: "no statistics", tree: "pod", change: map[string]string{"sys/fs/cgroup/memory.stat": ""}, bytes: 112 * mib, file: "/sys/fs/cgroup/memory.max"},
		{name: "no number", tree: "pod", change: map[string]string{"sys/fs/cgroup/memory.max": "much"}, bytes: 50000000 << 10, file: "/proc/meminfo"},
		{name: "machine smaller than group", tree: "service", change: map[string]string{"proc/meminfo": "MemTotal: 90000 kB\nMemAvailable: 2000 kB\n"}, bytes: 2000 << 10, file: "/proc/meminfo"},
	} {
		r := MemoryRoom(with(tree(t, c.tree), c.change))
		if r.Bytes != c.bytes || r.File != c.file {
			t.Errorf("%s: %d bytes by %q, want %d by %q", c.name, r.Bytes, r.File, c.bytes, c.file)
		}
	}
	if r := MemoryRoom(fstest.MapFS{}); r.Bytes != math.MaxUint64 || r.Check(1<<60) != nil {
		t.Error("a system that says nothing limits:", r)
	}
}

func TestRoomErrorNamesTheCure(t *testing.T) {
	r := MemoryRoom(tree(t, "pod"))
	if err := r.Check(300 << 20); err != nil {
		t.Error(err)
	}
	err := r.Check(412 << 20) // fits, but not with its page tables
	if err == nil {
		t.Fatal("no slack is kept")
	}
	for _, w := range []string{"412 MiB", "/sys/fs/cgroup/memory.max", "512 MiB", "100 MiB", "MemoryMax"} {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error does not say %q: %v", w, err)
		}
	}
	if err := MemoryRoom(tree(t, "vm")).Check(1 << 40); err == nil || strings.Contains(err.Error(), "control group") {
		t.Error("the machine's limit is cured by the control group:", err)
	}
}

func TestHugePages(t *testing.T) {
	for name, c := range map[string]struct {
		free  uint64
		thp   string
		asMem bool
		why   string
	}{
		"vm":      {0, "madvise", false, "vm.nr_hugepages"},
		"service": {3, "always", true, "hugetlb.2MB.max"},
		"docker1": {0, "never", false, "hugetlb.2MB.limit_in_bytes"},
		"numa":    {0, "", false, "no 2 MiB"},
	} {
		h := ReadHugePages(tree(t, name))
		if h.Free != c.free || h.Transparent != c.thp || h.CountAsMemory != c.asMem || !strings.Contains(h.Why, c.why) {
			t.Errorf("%s: %+v, want %+v", name, h, c)
		}
	}
	h := ReadHugePages(with(tree(t, "service"), map[string]string{"sys/fs/cgroup/fast.slice/router.service/hugetlb.2MB.max": "max"}))
	if h.Free != 150 {
		t.Errorf("200 free of which 50 are reserved: %d", h.Free)
	}
}

func TestEffectiveCPUs(t *testing.T) {
	all := CPUs(0, 1, 2, 3, 4, 5, 6, 7)
	for _, c := range []struct {
		tree     string
		affinity CPUSet
		set      string
		quota    float64
		file     string
	}{
		{"vm", CPUs(0, 1), "0-1", 0, ""},
		{"vm", CPUs(1), "1", 0, ""},
		{"vm", CPUSet{}, "0-1", 0, ""},
		{"pod", all, "2-3", 1.5, "/sys/fs/cgroup/cpu.max"},
		{"pod", CPUs(3, 4), "3", 1.5, "/sys/fs/cgroup/cpu.max"},
		{"pod", CPUs(7), "7", 1.5, "/sys/fs/cgroup/cpu.max"}, // the two contradict: the kernel's mask counts
		{"service", all, "0,4-5", 0.5, "/sys/fs/cgroup/fast.slice/cpu.max"},
		{"docker1", all, "1,3", 2, "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us"},
	} {
		e := effective(tree(t, c.tree), c.affinity)
		if e.Set.String() != c.set || e.Quota != c.quota || e.File != c.file {
			t.Errorf("%s, affinity %v: %v; want %s, quota %v by %s", c.tree, c.affinity, e, c.set, c.quota, c.file)
		}
	}
	if e := effective(fstest.MapFS{}, CPUSet{}); e.Set.Empty() {
		t.Error("a system that says nothing has no CPU")
	}
}

func TestTopology(t *testing.T) {
	top, err := ReadTopology(tree(t, "numa"))
	if err != nil {
		t.Fatal(err)
	}
	if top.Online.String() != "0-7" || top.Isolated.String() != "6-7" || top.NoHz.String() != "7" || len(top.CPUs) != 8 {
		t.Errorf("%+v", top)
	}
	if c := top.CPUs[6]; c.ID != 6 || c.Core != 0 || c.Package != 1 || c.Node != 1 || c.Siblings != CPUs(2, 6) {
		t.Errorf("CPU 6: %+v", c)
	}
	for _, c := range []struct {
		set  CPUSet
		want []int
	}{
		{CPUs(0, 1, 2, 3, 4, 5, 6, 7), []int{1, 2, 3, 0, 4, 5, 6, 7}},
		{CPUs(4, 5, 1), []int{1, 4, 5}},
		{CPUs(0), []int{0}},
		{CPUSet{}, nil},
	} {
		got := top.Spread(c.set)
		if len(got) != len(c.want) {
			t.Errorf("Spread(%v) = %v", c.set, got)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("Spread(%v) = %v, want %v", c.set, got, c.want)
				break
			}
		}
	}
	if n := NodeOf(tree(t, "numa"), "eth0"); n != 1 {
		t.Errorf("eth0 is on node %d", n)
	}
	if n := NodeOf(tree(t, "numa"), "eth1"); n != -1 {
		t.Errorf("eth1 is on node %d", n)
	}
	if _, err := ReadTopology(fstest.MapFS{}); err == nil {
		t.Error("no error without a tree")
	}
	if top, err = ReadTopology(tree(t, "pod")); err != nil || top.CPUs[3].Core != -1 || top.CPUs[3].Siblings != CPUs(3) {
		t.Errorf("hidden topology: %+v, %v", top, err)
	}
}

func TestTopologySpec(t *testing.T) {
	const spec = `<groups>
 <group level="1" cache-level="3">
  <cpu count="4" mask="f,0,0,0">0, 1, 2, 3</cpu>
  <children>
   <group level="2" cache-level="2"><cpu count="2" mask="3,0,0,0">0, 1</cpu><flags><flag name="THREAD">THREAD group</flag><flag name="SMT">SMT group</flag></flags></group>
   <group level="2" cache-level="2"><cpu count="2" mask="c,0,0,0">2, 3</cpu><flags><flag name="THREAD">THREAD group</flag></flags></group>
  </children>
 </group>
</groups>`
	top, err := ParseTopologySpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	if top.Online.String() != "0-3" || top.CPUs[1].Siblings != CPUs(0, 1) || top.CPUs[2].Siblings != CPUs(2, 3) {
		t.Errorf("%+v", top)
	}
	for _, bad := range []string{"", "<groups>", "<groups><group><cpu>x</cpu></group></groups>"} {
		if _, err := ParseTopologySpec(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestCPUSet(t *testing.T) {
	for list, want := range map[string]string{"": "", "0": "0", "0-3,8": "0-3,8", "3,2,1": "1-3", " 5 \n": "5", "1023": "1023", "0,1,3-4,4-6": "0-1,3-6"} {
		s, err := ParseCPUs(list)
		if err != nil || s.String() != want {
			t.Errorf("%q: %q, %v; want %q", list, s, err, want)
		}
	}
	for _, bad := range []string{"a", "-1", "3-1", "1024", "1-", "0,,1", "1-2-3", "0-99999999999"} {
		if s, err := ParseCPUs(bad); err == nil {
			t.Errorf("%q is accepted as %v", bad, s)
		}
	}
	var s CPUSet
	s.Add(-1)
	s.Add(MaxCPUs)
	s.Remove(-1)
	if !s.Empty() || s.Has(-1) || s.Has(MaxCPUs) {
		t.Error("numbers out of range get in")
	}
}

func TestCPUSetAgainstMap(t *testing.T) {
	ids := rapid.SliceOfN(rapid.IntRange(0, MaxCPUs-1), 0, 80)
	rapid.Check(t, func(t *rapid.T) {
		a, b := ids.Draw(t, "a"), ids.Draw(t, "b")
		ma, mb := map[int]bool{}, map[int]bool{}
		for _, i := range a {
			ma[i] = true
		}
		for _, i := range b {
			mb[i] = true
		}
		sa, sb := CPUs(a...), CPUs(b...)
		back, err := ParseCPUs(sa.String())
		if err != nil || back != sa || sa.Len() != len(ma) || len(sa.List()) != len(ma) {
			t.Fatalf("%v: %v, %v", sa, back, err)
		}
		and, minus := sa.And(sb), sa.Minus(sb)
		for i := range MaxCPUs {
			if sa.Has(i) != ma[i] || and.Has(i) != (ma[i] && mb[i]) || minus.Has(i) != (ma[i] && !mb[i]) {
				t.Fatalf("CPU %d: %v %v", i, sa, sb)
			}
		}
		for i := range ma {
			sa.Remove(i)
		}
		if !sa.Empty() {
			t.Fatal("not empty after removing all")
		}
	})
}

func TestSize(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 bytes", 1023: "1023 bytes", 1024: "1 KiB", 350 << 20: "350 MiB", 3 << 29: "1.5 GiB", 128 << 30: "128 GiB"} {
		if got := Size(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
