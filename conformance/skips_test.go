// SPDX-License-Identifier: Apache-2.0

package conformance

import "maps"

// noQueue and noSched are what queues and scheduler lack on every platform.
var (
	noQueue = map[string]Capability{
		"QUEUE-10": CapLockFreeMT, "QUEUE-12": CapLockFreeMT, "QUEUE-22": CapLockFreeMT, "QUEUE-24": CapLockFreeMT, "QUEUE-33": CapLockFreeMT,
		"QUEUE-14": CapWaitFreeMT, "QUEUE-15": CapWaitFreeMT, "QUEUE-16": CapWaitFreeMT,
		"QUEUE-37": CapAggregator, "QUEUE-38": CapAggregator, "QUEUE-39": CapAggregator, "QUEUE-40": CapAggregator,
		"QUEUE-41": CapAggregator, "QUEUE-42": CapAggregator, "QUEUE-43": CapAggregator, "QUEUE-44": CapAggregator,
	}
	noSched = map[string]Capability{
		"SCHED-75": CapGroupCount, "SCHED-76": CapPriorityRange, "SCHED-77": CapGroupPriorities, "SCHED-78": CapNoPredefined,
	}
)

// noLocks is what Go has not.
var noLocks = map[string]Capability{
	"LOCK-04": CapRecursiveLocks, "LOCK-05": CapRecursiveLocks, "LOCK-10": CapRecursiveLocks, "LOCK-11": CapRecursiveLocks,
	"LOCK-06": CapTicketLocks, "LOCK-07": CapTicketLocks,
}

// skips is a platform's list, made of parts.
func skips(parts ...map[string]Capability) map[string]Capability {
	all := map[string]Capability{}
	for _, p := range parts {
		maps.Copy(all, p)
	}
	return all
}

var loopSkips = skips(noQueue, noSched, noLocks)
