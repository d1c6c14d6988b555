// SPDX-License-Identifier: Apache-2.0

package loop

import (
	"context"
	"fmt"
	"sync"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/worker"
)

// sharedPool is the pool of all loop devices of a worker set that were opened
// without one.
type sharedPool struct {
	set  *worker.Set
	pool *buffer.Pool
	refs int
}

var (
	poolsMu sync.Mutex
	pools   = map[*worker.Set]*sharedPool{}
)

const defaultPackets = 8192

func acquirePool(ctx context.Context, cfg driver.Config, seed int) (*sharedPool, error) {
	poolsMu.Lock()
	defer poolsMu.Unlock()
	sp := pools[cfg.Set]
	if sp == nil {
		n := cfg.PoolPackets
		if n == 0 {
			n = defaultPackets + 2*seed
		}
		p, err := buffer.NewPoolContext(ctx, cfg.Set, buffer.PoolConfig{Name: "loop", Num: n, Strict: cfg.Strict})
		if err != nil {
			return nil, err
		}
		sp = &sharedPool{set: cfg.Set, pool: p}
		pools[cfg.Set] = sp
	}
	sp.refs++
	return sp, nil
}

// releasePool closes the pool with its last device. When packets are out it
// stays, and the call can be repeated.
func releasePool(sp *sharedPool) error {
	poolsMu.Lock()
	defer poolsMu.Unlock()
	if sp.refs > 1 {
		sp.refs--
		return nil
	}
	if out := sp.pool.Leaks(); out != "" {
		return fmt.Errorf("%w: %s", driver.ErrPacketsOut, out)
	}
	if err := sp.pool.Close(); err != nil {
		if !sp.pool.Closed() { // somebody allocated since Leaks looked; no worker caches any more
			sp.forget()
			err = fmt.Errorf("%w: %w", driver.ErrPacketsOut, err)
		}
		return err
	}
	sp.refs = 0
	sp.forget()
	return nil
}

// forget makes the next device of the set open a pool of its own; poolsMu is held.
func (sp *sharedPool) forget() {
	if pools[sp.set] == sp {
		delete(pools, sp.set)
	}
}
