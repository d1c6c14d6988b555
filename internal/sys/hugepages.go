// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"fmt"
	"io/fs"
	"math"
	"strings"
)

// HugePage is the size of the huge pages that are used: 2 MiB.
const HugePage = 2 << 20

// HugePages is what the system has of them.
type HugePages struct {
	// Free is the number of explicit (hugetlb) 2 MiB pages that this process may
	// still take: free, not reserved by others, and within the control group's limit.
	Free uint64
	// Why says what limits Free, with the cure.
	Why string
	// Transparent is the mode of transparent huge pages: always, madvise, never, or
	// "" where there are none.
	Transparent string
	// CountAsMemory: hugetlb pages count against the control group's memory limit too.
	CountAsMemory bool
}

// ReadHugePages reads the counts and limits. Populating beyond a hugetlb limit is a
// bus error at the first touch, not an error of mmap: so they are read first.
func ReadHugePages(fsys fs.FS) HugePages {
	h := HugePages{CountAsMemory: cgroupOption(fsys, "memory_hugetlb_accounting")}
	if s, err := text(fsys, "sys/kernel/mm/transparent_hugepage/enabled"); err == nil {
		if _, rest, ok := strings.Cut(s, "["); ok {
			h.Transparent, _, _ = strings.Cut(rest, "]")
		}
	}
	const dir = "sys/kernel/mm/hugepages/hugepages-2048kB/"
	free, err := number(fsys, dir+"free_hugepages")
	if err != nil {
		h.Why = "the system has no 2 MiB huge pages"
		return h
	}
	total, _ := number(fsys, dir+"nr_hugepages")
	reserved, _ := number(fsys, dir+"resv_hugepages")
	h.Free = free - min(free, reserved)
	h.Why = fmt.Sprintf("%d of %d huge pages are free and %d of these reserved by others (raise: sysctl vm.nr_hugepages)", free, total, reserved)
	dirs, v2 := cgroupDirs(fsys, "hugetlb")
	pairs := [][2]string{{"hugetlb.2MB.limit_in_bytes", "hugetlb.2MB.usage_in_bytes"}, {"hugetlb.2MB.rsvd.limit_in_bytes", "hugetlb.2MB.rsvd.usage_in_bytes"}}
	if v2 {
		pairs = [][2]string{{"hugetlb.2MB.max", "hugetlb.2MB.current"}, {"hugetlb.2MB.rsvd.max", "hugetlb.2MB.rsvd.current"}}
	}
	for _, d := range dirs {
		for _, p := range pairs {
			limit, err := number(fsys, d+"/"+p[0])
			if err != nil || limit > math.MaxInt64/2 {
				continue
			}
			used, _ := number(fsys, d+"/"+p[1])
			if left := (limit - min(limit, used)) / HugePage; left < h.Free {
				h.Free = left
				h.Why = fmt.Sprintf("the control group has %d huge pages left (raise: /%s/%s)", left, d, p[0])
			}
		}
	}
	return h
}
