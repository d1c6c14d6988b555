// SPDX-License-Identifier: Apache-2.0

package buffer

// UserArea views the user area of the event, nil when its pool has none. Its
// contents outlive free and allocation.
func (e *Event) UserArea() []byte {
	p := e.PoolOf()
	if p == nil || p.areaStep == 0 {
		return nil
	}
	return p.area(e.index)
}
