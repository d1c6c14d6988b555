// SPDX-License-Identifier: Apache-2.0

package conformance

import "github.com/odp-go/godp/odp"

// poolOps are the calls of the POOL and BUF suites.
type poolOps struct {
	NewPool     func(in *odp.Instance, cfg odp.PoolConfig) (*odp.Pool, error)
	AllocBuffer func(p *odp.Pool, w *odp.Worker) *odp.Buffer
}

var realPoolOps = poolOps{
	NewPool:     (*odp.Instance).NewPool,
	AllocBuffer: (*odp.Pool).AllocBuffer,
}
