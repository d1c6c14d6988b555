module github.com/odp-go/godp/cmd/odp

go 1.26.0

require (
	github.com/odp-go/godp v0.0.0
	golang.org/x/sys v0.50.0
)

require (
	github.com/cilium/ebpf v0.22.0 // indirect
	github.com/panjf2000/ants/v2 v2.12.1 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	go.uber.org/goleak v1.3.0 // indirect
	golang.org/x/sync v0.20.0 // indirect
)

replace github.com/odp-go/godp => ../..
