// SPDX-License-Identifier: Apache-2.0

package odp_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/odptest"
	"github.com/odp-go/godp/pktio"
)

// soon is a context that a close must not need.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), odptest.Patience)
	t.Cleanup(cancel)
	return ctx
}

// Ports are closed by the workers that use them, all at the same time, in the middle
// of a context, with frames on their way.
func TestPortCloseByWorkers(t *testing.T) {
	const workers = 3
	in := odptest.New(t, odp.Config{Workers: workers})
	var ports [workers]*odp.Port
	for i, sync := range []odp.Sync{odp.Parallel, odp.Atomic, odp.Ordered} {
		ports[i] = openPort(t, in, odptest.NewDevice(t, odptest.DeviceConfig{}).Name(), odp.PortConfig{Mode: odp.ModeScheduled, Sync: sync})
		pool, err := in.NewPool(odp.PoolConfig{Type: buffer.TypeBuffer, Num: 64, Size: 64})
		if err != nil {
			t.Fatal(err)
		}
		bufs := make([]*buffer.Buffer, 20)
		n := pool.AllocBuffers(nil, bufs)
		for _, b := range bufs[:n] {
			if k, err := ports[i].Queues()[0].Enqueue(nil, []*odp.Event{&b.Event}); k != 1 || err != nil {
				t.Fatal(k, err)
			}
		}
	}
	closed := soon(t)
	var next atomic.Int32
	var ended sync.WaitGroup
	ended.Add(workers)
	go func() { ended.Wait(); in.Stop() }()
	err := in.Run(t.Context(), func(w *odp.Worker) error {
		var ev [4]*odp.Event
		n, _, err := in.Schedule(w, ev[:], 0)
		if err != nil {
			return err
		}
		buffer.FreeEvents(w, ev[:n])
		err = ports[next.Add(1)-1].Close(closed) // the context of what was scheduled is still held
		if err != nil {
			err = errors.New("close: " + err.Error())
		}
		ended.Done()
		for done := false; !done; { // whoever is done works on, so that the others' queues become empty
			n, _, _ := in.Schedule(w, ev[:], 0)
			buffer.FreeEvents(w, ev[:n])
			done = w.Stopping() && n == 0
		}
		return err
	})
	if err != nil && !errors.Is(err, odp.ErrStopped) {
		t.Fatal(err)
	}
	if closed.Err() != nil {
		t.Fatal("a close waited for its own worker")
	}
}

// A control thread closes a port; and a port with events that nobody takes says so at
// once, by whomever it is closed.
func TestPortCloseByControl(t *testing.T) {
	in := odptest.New(t, odp.Config{Workers: 1})
	open := func(events int) *odp.Port {
		p := openPort(t, in, odptest.NewDevice(t, odptest.DeviceConfig{}).Name(), odp.PortConfig{Mode: odp.ModeScheduled})
		if events > 0 {
			pool, err := in.NewPool(odp.PoolConfig{Type: buffer.TypeBuffer, Num: 64, Size: 64, Cache: -1})
			if err != nil {
				t.Fatal(err)
			}
			for range events {
				p.Queues()[0].Enqueue(nil, []*odp.Event{&pool.AllocBuffer(nil).Event})
			}
		}
		return p
	}
	idle, left, own := open(0), open(3), open(2)
	ctx := soon(t)
	got := make(chan error, 2)
	if err := in.Go("closer", func(w *odp.Worker) error {
		got <- idle.Close(ctx)
		got <- own.Close(ctx) // it is the only member of the queue's group
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
	if err := <-got; err == nil || !strings.Contains(err.Error(), "2 events are left") {
		t.Errorf("events that only the caller could take: %v", err)
	}
	odptest.Await(t, "the control thread to leave", func() bool { return in.Controls().IsZero() })
	if err := left.Close(ctx); err == nil || !strings.Contains(err.Error(), "3 events are left") || !strings.Contains(err.Error(), left.Name()) {
		t.Errorf("events that nobody takes: %v", err)
	}
	if ctx.Err() != nil {
		t.Error("a close waited")
	}
	if err := left.Close(t.Context()); err != nil {
		t.Errorf("closed again: %v", err)
	}
	//lint:ignore SA1012 a mistake that must not panic
	if err := idle.Close(nil); err == nil {
		t.Error("no context: no error")
	}
}

// A worker that is no worker of Run: an identity by Control.
func TestPortCloseByJoined(t *testing.T) {
	in := odptest.New(t, odp.Config{Workers: 1})
	p := openPort(t, in, odptest.NewDevice(t, odptest.DeviceConfig{}).Name(), odp.PortConfig{Mode: odp.ModeScheduled})
	w, err := in.Control(odp.KindWorker)
	if err != nil {
		t.Fatal(err)
	}
	w.Running()
	began, ctx := time.Now(), soon(t)
	if err := p.Close(ctx); err != nil {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	if err := in.Leave(w); err != nil {
		t.Error(err)
	}
}

// A packet of the device's own pool that is out when its port is closed is waited for,
// then named, and at the end of the instance its memory is given back all the same.
func TestPortClosedWithPacketOut(t *testing.T) {
	for _, name := range []string{"loop:out", "nmsim:out"} {
		in, err := odp.Open(t.Context(), odp.Config{Name: "out", Workers: 1, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		port, err := in.OpenPort(t.Context(), name, odp.PortConfig{})
		if err != nil {
			t.Fatal(err)
		}
		var k [1]*odp.Packet
		if port.Pool().AllocPackets(nil, k[:], 60) != 1 {
			t.Fatal("no packet")
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if err := port.Close(ctx); !errors.Is(err, pktio.ErrPacketsOut) {
			t.Errorf("%s: close: %v", name, err)
		}
		cancel()
		if err := in.Close(); !errors.Is(err, odp.ErrLeak) {
			t.Errorf("%s: the instance's end: %v", name, err)
		}
		if !port.Pool().Closed() {
			t.Errorf("%s: the pool is there", name)
		}
		if err := port.Port.Close(); err != nil {
			t.Errorf("%s: the device is still held: %v", name, err)
		}
	}
}

// A port whose inputs a worker may be polling when its close has no more time is closed;
// the end of the instance takes them from the scheduler. (Found by the chaos run.)
func TestPortClosedWhilePolled(t *testing.T) {
	for _, queues := range []int{1, 2} {
		in, err := odp.Open(t.Context(), odp.Config{Name: "polled", Workers: 1, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		name := odptest.NewDevice(t, odptest.DeviceConfig{}).Name()
		port := openPort(t, in, name, odp.PortConfig{Mode: odp.ModeScheduled, NumQueues: queues})
		busy, free := make(chan struct{}), make(chan struct{})
		ran := make(chan error, 1)
		go func() {
			ran <- in.Run(t.Context(), func(w *odp.Worker) error {
				var ev [4]*odp.Event
				in.Schedule(w, ev[:], 0)
				close(busy)
				<-free // it comes to no quiescent point
				return nil
			})
		}()
		<-busy
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if err := port.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("close: %v", err)
		}
		cancel()
		if p, err := in.OpenPort(t.Context(), name, odp.PortConfig{}); err != nil {
			t.Errorf("the device is still held: %v", err)
		} else if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
		close(free)
		if err := <-ran; err != nil {
			t.Error(err)
		}
		if err := in.Close(); err != nil {
			t.Errorf("%d queues: the instance's end: %v", queues, err)
		}
	}
}
