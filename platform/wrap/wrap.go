// SPDX-License-Identifier: Apache-2.0

package wrap

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/internal/nic"
)

func init() {
	driver.Register("fault", drv{"fault", openFault})
	driver.Register("pcapdump", drv{"pcapdump", openDump})
	driver.Register("trace", drv{"trace", openTrace})
}

type drv struct {
	kind string
	wrap func(d *device, a *args, cfg driver.Config) error
}

// device is a device around another one. Whatever it does not do itself, the inner
// one does.
type device struct {
	driver.Device
	name     string
	rx       []driver.RxQueue
	tx       []driver.TxQueue
	counters func(map[string]uint64)
	release  func() error // before the inner device is closed
}

// Open implements driver.Driver. The name is "(arguments):inner device".
func (v drv) Open(ctx context.Context, name string, cfg driver.Config) (driver.Device, error) {
	full := v.kind + name
	list, inner, err := parse(name)
	if err != nil {
		return nil, &nic.Error{Op: "open", Device: full, Why: err.Error(), Cure: "write " + v.kind + "(key=value,…):KIND:DEVICE"}
	}
	below, rest, err := driver.Lookup(inner)
	if err != nil {
		return nil, fmt.Errorf("device %q: %w", full, err)
	}
	in, err := below.Open(ctx, rest, cfg)
	if err != nil {
		return nil, err
	}
	d := &device{Device: in, name: full}
	i := in.Info()
	for n := range i.RxQueues {
		d.rx = append(d.rx, in.Rx(n))
	}
	for n := range i.TxQueues {
		d.tx = append(d.tx, in.Tx(n))
	}
	a := &args{m: list}
	err = v.wrap(d, a, cfg)
	if err == nil {
		err = a.err()
	}
	if err != nil {
		return nil, errors.Join(&nic.Error{Op: "open", Device: full, Err: err}, d.Close())
	}
	return d, nil
}

// parse takes "(key=value,value):inner" apart. A value without a key has the key "".
func parse(name string) (list map[string]string, inner string, err error) {
	body, inner, ok := strings.Cut(name, "):")
	body, open := strings.CutPrefix(body, "(")
	if !ok || !open || inner == "" {
		return nil, "", fmt.Errorf("%q: the arguments stand in parentheses, then a colon and the device that is wrapped", name)
	}
	list = map[string]string{}
	if body == "" {
		return list, inner, nil
	}
	for _, p := range strings.Split(body, ",") {
		k, v, ok := strings.Cut(p, "=")
		if !ok {
			k, v = "", p
		}
		if _, dup := list[k]; dup || v == "" {
			return nil, "", fmt.Errorf("argument %q is empty, or given twice", p)
		}
		list[k] = v
	}
	return list, inner, nil
}

// args reads arguments strictly: what is unknown or wrong is an error.
type args struct {
	m     map[string]string
	known []string
	bad   []error
}

func (a *args) get(key, form string) (string, bool) {
	a.known = append(a.known, form)
	v, ok := a.m[key]
	delete(a.m, key)
	return v, ok
}

func (a *args) text(key, form string) string {
	v, _ := a.get(key, form)
	return v
}

// share reads 1% or 0.01.
func (a *args) share(key string) float64 {
	v, ok := a.get(key, key+"=0%..100%")
	if !ok {
		return 0
	}
	num, percent := strings.CutSuffix(v, "%")
	f, err := strconv.ParseFloat(num, 64)
	if percent {
		f /= 100
	}
	if err != nil || !(f >= 0 && f <= 1) {
		a.bad = append(a.bad, fmt.Errorf("%s=%s: allowed are 0%% to 100%%, or 0 to 1", key, v))
	}
	return f
}

func (a *args) number(key string, def uint64) uint64 {
	v, ok := a.get(key, key+"=N")
	if !ok {
		return def
	}
	n, err := driver.ParseUint(v, 1<<62)
	if err != nil {
		a.bad = append(a.bad, fmt.Errorf("%s=%w", key, err))
	}
	return n
}

func (a *args) duration(key string) time.Duration {
	v, ok := a.get(key, key+"=0s..10s")
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 || d > 10*time.Second {
		a.bad = append(a.bad, fmt.Errorf("%s=%s: allowed are times from 0s to 10s, for example 5ms", key, v))
	}
	return d
}

// direction reads dir=.
func (a *args) direction(def string) (rx, tx bool) {
	v, ok := a.get("dir", "dir=rx|tx|both")
	if !ok {
		v = def
	}
	switch v {
	case "rx", "tx", "both":
		return v != "tx", v != "rx"
	}
	a.bad = append(a.bad, fmt.Errorf("dir=%s: allowed are rx, tx, both", v))
	return false, false
}

func (a *args) err() error {
	for k, v := range a.m {
		if k == "" {
			k = v
		}
		a.bad = append(a.bad, fmt.Errorf("argument %q is unknown: allowed are %s", k, strings.Join(a.known, ", ")))
	}
	return errors.Join(a.bad...)
}

// Info implements driver.Device.
func (d *device) Info() driver.Info {
	i := d.Device.Info()
	i.Name = d.name
	return i
}

// Rx implements driver.Device.
func (d *device) Rx(i int) driver.RxQueue { return d.rx[i] }

// Tx implements driver.Device.
func (d *device) Tx(i int) driver.TxQueue { return d.tx[i] }

// Counters implements driver.Device.
func (d *device) Counters() map[string]uint64 {
	m := d.Device.Counters()
	if d.counters != nil {
		d.counters(m)
	}
	return m
}

// Close implements driver.Device.
func (d *device) Close() error {
	var err error
	if d.release != nil {
		err = d.release()
		d.release = nil
	}
	return errors.Join(err, d.Device.Close())
}

// arm is driver.Waiter's Arm of a queue that may not have one.
func arm(q driver.RxQueue, wake func()) (fd int, due time.Duration, ready bool) {
	if w, ok := q.(driver.Waiter); ok {
		return w.Arm(wake)
	}
	return -1, 500 * time.Microsecond, false
}

func disarm(q driver.RxQueue) {
	if w, ok := q.(driver.Waiter); ok {
		w.Disarm()
	}
}
