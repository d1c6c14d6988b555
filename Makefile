# SPDX-License-Identifier: Apache-2.0

GO ?= go
export GOFLAGS ?=
PKG ?= ./... ./cmd/odp/...

.DEFAULT_GOAL := help

help: ## print this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: ## forward packets: the demonstration (no root, no NIC)
	$(GO) run ./examples/odp_l2fwd

odp: ## the tool box as one static binary, bin/odp
	CGO_ENABLED=0 $(GO) build -o bin/odp ./cmd/odp

test: ## all tests
	$(GO) test $(PKG)

race: ## all tests under the race detector, in random order
	$(GO) test -race -shuffle=on -short $(PKG)

portable: ## the files for systems without raw descriptors, tested here
	$(GO) test -tags portable -short $(PKG)

invariants: ## with ownership, double free and index checks
	$(GO) test -tags invariants -short $(PKG)

stress: ## twenty times in a row under the race detector
	$(GO) test -race -shuffle=on -short -count=20 -timeout 60m $(PKG)

matrix: ## every legal combination of l2fwd's modes, FRAMES=100000 each; 10000000 takes hours
	$(GO) test ./examples/odp_l2fwd -run Matrix -matrix.all -matrix.frames $(or $(FRAMES),100000) -timeout 6h

idle: ## CPU share and wake-up times without traffic, 60 s each way
	$(GO) test ./examples/idle -run Ways -idle.seconds 60 -timeout 20m -v

heavy: ## the rounds that take minutes: opens and closes, order, wake-ups
	$(GO) test ./platform/netmap ./platform/netmap/nmsim ./schedule -heavy -timeout 60m

bite: ## the conformance suites against broken implementations (quiet machine)
	$(GO) test ./conformance -conformance.bite -run Bite -v -timeout 20m

fuzz: ## every fuzz target, one after the other, FUZZTIME=30s each
	@set -e; for f in $$(grep -rl --include='*_test.go' '^func Fuzz' . | sort); do \
	  for n in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' $$f); do \
	    echo "$$(dirname $$f) $$n"; \
	    (cd $$(dirname $$f) && $(GO) test . -run '^$$' -fuzz "^$$n\$$" -fuzztime $(or $(FUZZTIME),30s) -fuzzminimizetime 2s); \
	  done; done

scribble: ## every mode on rings that another process scribbles on, SCRIBBLE=60s a mode
	$(GO) test ./examples/odp_l2fwd -run Scribble -scribble $(or $(SCRIBBLE),60s) -timeout 30m -v

bench: ## benchmarks of all packages, once each
	$(GO) test -run '^$$' -bench . -benchtime 200ms $(PKG)

cross: ## build and vet for every supported system; leaves bin/odp-SYSTEM-ARCH
	@export CGO_ENABLED=0; for t in linux/amd64 linux/arm64 freebsd/amd64 freebsd/arm64 darwin/arm64; do \
	  echo "$$t"; export GOOS=$${t%/*} GOARCH=$${t#*/}; $(GO) vet $(PKG) && $(GO) build $(PKG) && \
	  $(GO) build -o bin/odp-$$GOOS-$$GOARCH ./cmd/odp || exit 1; done

lint: ## gofmt, vet, staticcheck
	@fmt=$$(git ls-files '*.go' | xargs gofmt -l); test -z "$$fmt" || { echo "gofmt: $$fmt"; exit 1; }
	$(GO) vet $(PKG)
	cd tools && GOWORK=off $(GO) build -o ../bin/staticcheck honnef.co/go/tools/cmd/staticcheck
	bin/staticcheck $(PKG)

.PHONY: fuzz scribble bite help demo odp test race portable invariants stress matrix idle heavy bench cross lint
