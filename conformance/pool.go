// SPDX-License-Identifier: Apache-2.0

package conformance

import "github.com/odp-go/godp/odp"

func init() {
	register("POOL",
		Case{"POOL-02", "A buffer pool without a name can be made and closed.", nil, func(e *Env) {
			p, err := e.Ops.NewPool(e.Instance(), odp.PoolConfig{Type: buffers, Num: 1000, Size: 1500})
			e.NoError(err, "NewPool")
			e.NoError(p.Close(), "Close")
		}},
	)
}
