// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/odp-go/godp/cmd/odp/internal/cli"
)

// buildInfo is what the binary knows about itself.
type buildInfo struct {
	Version  string `json:"version"`            // of the module; "(devel)" in a work tree
	Revision string `json:"revision,omitempty"` // of the repository it was built in
	Time     string `json:"time,omitempty"`     // of that revision
	Modified bool   `json:"modified,omitempty"` // there were changes beside the revision
	Go       string `json:"go"`
	System   string `json:"system"`
}

func build() buildInfo {
	b := buildInfo{Version: "(devel)", Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func (b buildInfo) String() string {
	s := "odp " + b.Version
	if b.Revision != "" {
		s += " " + b.Revision[:min(12, len(b.Revision))]
	}
	if b.Modified {
		s += " with changes"
	}
	return s + ", " + b.Go + ", " + b.System
}

func version(_ context.Context, args []string, stdout, _ io.Writer) error {
	fs := flag.NewFlagSet("odp version", flag.ContinueOnError)
	asJSON := fs.Bool("json", false, "print JSON")
	if done, err := cli.Parse(fs, "odp version [-json]", args, stdout); done || err != nil {
		return err
	}
	if *asJSON {
		enc := json.NewEncoder(stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(build())
	}
	_, err := fmt.Fprintln(stdout, build())
	return err
}
