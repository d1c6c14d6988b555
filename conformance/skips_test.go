// SPDX-License-Identifier: Apache-2.0

package conformance

import "maps"

// noQueue and noSched are what queues and scheduler lack on every platform.
var (
	noQueue = map[string]Capability{
		"QUEUE-10": CapLockFreeMT, "QUEUE-12": CapLockFreeMT, "QUEUE-22": CapLockFreeMT, "QUEUE-24": CapLockFreeMT, "QUEUE-33": CapLockFreeMT,
		"QUEUE-14": CapWaitFreeMT, "QUEUE-15": CapWaitFreeMT, "QUEUE-16": CapWaitFreeMT,
	}
	noSched = map[string]Capability{
		"SCHED-75": CapGroupCount, "SCHED-76": CapPriorityRange, "SCHED-77": CapGroupPriorities, "SCHED-78": CapNoPredefined,
	}
)

// skips is a platform's list, made of parts.
func skips(parts ...map[string]Capability) map[string]Capability {
	all := map[string]Capability{}
	for _, p := range parts {
		maps.Copy(all, p)
	}
	return all
}

var loopSkips = skips(noQueue, noSched)
