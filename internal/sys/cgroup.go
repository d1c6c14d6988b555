// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"bufio"
	"io/fs"
	"path"
	"strings"
)

// cgroupDirs returns the directories of this process's control group for a
// controller (memory, cpuset, cpu, hugetlb), from its own up to the mounted root:
// each of them may hold a limit. v2 says which file names to use. Nil if there is none.
//
//	/proc/self/cgroup     8:memory:/a/b   (version 1)   0::/a/b   (version 2)
//	/proc/self/mountinfo  which part of the hierarchy is mounted (root), and where
func cgroupDirs(fsys fs.FS, controller string) (dirs []string, v2 bool) {
	own := map[string]string{} // controller, or "" for version 2 -> path in the hierarchy
	eachLine(fsys, "proc/self/cgroup", func(line string) {
		p := strings.SplitN(line, ":", 3)
		if len(p) == 3 {
			for c := range strings.SplitSeq(p[1], ",") {
				own[c] = p[2]
			}
		}
	})
	for _, v2 := range []bool{false, true} {
		p, ok := own[map[bool]string{false: controller, true: ""}[v2]]
		if !ok {
			continue
		}
		root, mount := cgroupMount(fsys, controller, v2)
		if mount == "" {
			continue
		}
		mount = strings.TrimPrefix(mount, "/")
		sub, below := strings.CutPrefix(p, strings.TrimSuffix(root, "/"))
		if !below || strings.Contains(sub, "..") || (sub != "" && sub[0] != '/') {
			sub = "" // a name space shows another root: what is mounted is ours
		}
		for dir := path.Join(mount, sub); ; dir = path.Dir(dir) {
			dirs = append(dirs, dir)
			if dir == mount || len(dir) <= len(mount) {
				return dirs, v2
			}
		}
	}
	return nil, false
}

// cgroupMount finds where the hierarchy is mounted and which directory of it.
func cgroupMount(fsys fs.FS, controller string, v2 bool) (root, mount string) {
	eachLine(fsys, "proc/self/mountinfo", func(line string) {
		head, tail, ok := strings.Cut(line, " - ")
		h, t := strings.Fields(head), strings.Fields(tail)
		if !ok || mount != "" || len(h) < 5 || len(t) < 3 {
			return
		}
		isIt := v2 && t[0] == "cgroup2"
		if !v2 && t[0] == "cgroup" {
			for o := range strings.SplitSeq(t[2], ",") {
				isIt = isIt || o == controller
			}
		}
		if isIt {
			root, mount = h[3], h[4]
		}
	})
	return root, mount
}

// cgroupOption reports whether the version 2 hierarchy is mounted with an option.
func cgroupOption(fsys fs.FS, option string) bool {
	found := false
	eachLine(fsys, "proc/self/mountinfo", func(line string) {
		_, tail, _ := strings.Cut(line, " - ")
		if t := strings.Fields(tail); len(t) >= 3 && t[0] == "cgroup2" {
			for o := range strings.SplitSeq(t[2], ",") {
				found = found || o == option
			}
		}
	})
	return found
}

func eachLine(fsys fs.FS, name string, f func(string)) {
	file, err := fsys.Open(name)
	if err != nil {
		return
	}
	defer file.Close()
	for sc := bufio.NewScanner(file); sc.Scan(); {
		f(sc.Text())
	}
}
