// SPDX-License-Identifier: Apache-2.0

package conformance

// noQueue is what the queues lack on every platform.
var noQueue = map[string]Capability{
	"QUEUE-10": CapLockFreeMT, "QUEUE-12": CapLockFreeMT, "QUEUE-22": CapLockFreeMT, "QUEUE-24": CapLockFreeMT, "QUEUE-33": CapLockFreeMT,
	"QUEUE-14": CapWaitFreeMT, "QUEUE-15": CapWaitFreeMT, "QUEUE-16": CapWaitFreeMT,
	"QUEUE-37": CapAggregator, "QUEUE-38": CapAggregator, "QUEUE-39": CapAggregator, "QUEUE-40": CapAggregator,
	"QUEUE-41": CapAggregator, "QUEUE-42": CapAggregator, "QUEUE-43": CapAggregator, "QUEUE-44": CapAggregator,
}

var loopSkips = noQueue
