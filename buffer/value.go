// SPDX-License-Identifier: Apache-2.0

package buffer

// SetValue attaches a Go value to an event that the caller owns; nil takes it
// off. Headers can't hold Go pointers, so values lie in a table of the pool, which
// is made at the first call. A free through the package's functions takes the value
// off; a free that names the pool must not be used on an event with a value.
func (e *Event) SetValue(v any) {
	p := poolFor(e)
	if v == nil {
		if e.flags&flagValue != 0 {
			p.dropValue(e)
		}
		return
	}
	p.valueTable()[e.index] = v
	e.flags |= flagValue
}

// Value returns the attached Go value, nil if there is none.
func (e *Event) Value() any {
	if e.flags&flagValue == 0 {
		return nil
	}
	p := e.PoolOf()
	if p == nil {
		return nil
	}
	return p.valueTable()[e.index]
}

func (p *Pool) dropValue(e *Event) {
	p.valueTable()[e.index] = nil
	e.flags &^= flagValue
}

func (p *Pool) valueTable() []any {
	if t := p.values.Load(); t != nil {
		return *t
	}
	t := make([]any, p.num)
	if p.values.CompareAndSwap(nil, &t) {
		return t
	}
	return *p.values.Load()
}
