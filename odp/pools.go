// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"errors"
	"fmt"

	"github.com/odp-go/godp/buffer"
)

// namedPool is a pool that the instance made and closes.
type namedPool struct {
	name string
	*Pool
}

// NewPool makes a pool of packets or buffers for this instance's workers. The
// instance closes it; closing it earlier is allowed. Config.Strict is added to cfg's.
func (in *Instance) NewPool(cfg PoolConfig) (*Pool, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if err := in.checkOpen("NewPool"); err != nil {
		return nil, err
	}
	if cfg.Name == "" {
		cfg.Name = fmt.Sprintf("pool%d", len(in.pools))
	}
	cfg.Strict = cfg.Strict || in.cfg.Strict
	p, err := buffer.NewPool(in.set, cfg)
	if err != nil {
		return nil, fmt.Errorf("odp: NewPool: %w", err)
	}
	in.pools = append(in.pools, namedPool{cfg.Name, p})
	return p, nil
}

// closePools closes all pools; the error names those that are not full.
func (in *Instance) closePools() error {
	in.mu.Lock()
	pools := in.pools
	in.mu.Unlock()
	var errs []error
	for _, p := range pools {
		if err := p.Close(); err != nil {
			errs = append(errs, fmt.Errorf("%w: %w", ErrLeak, err))
		}
	}
	return errors.Join(errs...)
}
