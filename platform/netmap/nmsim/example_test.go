// SPDX-License-Identifier: Apache-2.0

package nmsim_test

import (
	"fmt"

	"github.com/odp-go/godp/platform/netmap/abi"
	"github.com/odp-go/godp/platform/netmap/nmsim"
)

// A world of its own, a port by the options of a device name, and what happened to its
// frames. Programs get this by the name alone: "nmsim:eth0?far=source&count=100".
func ExampleWorld() {
	w := nmsim.NewWorld(nmsim.Config{Mem: nmsim.Geometry{BufNum: 4096}})
	defer w.Close()
	if err := w.Configure("eth0", map[string]string{"far": "source", "count": "100", "slots": "256"}); err != nil {
		fmt.Println(err)
		return
	}

	k := w.Kernel() // what the netmap client talks to
	fd, _ := k.Open()
	call, _ := abi.NewCall()
	defer call.Close()
	_, r, _ := call.Register("eth0")
	r.Mode = abi.ModeAllNIC
	if e := k.Ioctl(fd, k.Numbers().Ctrl, call.Arg()); e != 0 {
		fmt.Println(e)
		return
	}
	k.Ioctl(fd, k.Numbers().RxSync, nil)
	k.Close(fd)

	rep := w.Report("eth0")
	fmt.Println("injected", rep.Injected, "drops", rep.Drops(), "lost", rep.Lost(0))
	// Output: injected 100 drops map[rx_unread_at_close:100] lost 0
}
