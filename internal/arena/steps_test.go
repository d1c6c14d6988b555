// SPDX-License-Identifier: Apache-2.0

package arena

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// countdown is a context that ends after it was looked at n times.
type countdown struct {
	context.Context
	n int
}

func (c *countdown) Err() error {
	if c.n--; c.n < 0 {
		return context.Canceled
	}
	return nil
}

// Populating ends between two steps when the context does, and all is given back.
func TestPopulateEndsWithContext(t *testing.T) {
	defer func(n int) { populateStep = n }(populateStep)
	populateStep = 1 << 20
	before, _ := free()
	for _, c := range []struct {
		looks int
		want  string
	}{
		{0, "context canceled"},
		{1, "stopped when 0 bytes of 8 MiB were populated"},
		{4, "stopped when 3 MiB of 8 MiB were populated"},
		{8, "stopped when 7 MiB of 8 MiB were populated"},
	} {
		r, err := NewContext(&countdown{t.Context(), c.looks}, Config{Name: "steps", Size: 8 << 20})
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d looks: %v, %v; want %q", c.looks, r, err, c.want)
		}
		if now, _ := free(); now != before {
			t.Errorf("%d looks: %d bytes of the arena are free, were %d", c.looks, now, before)
		}
	}
	r, err := NewContext(&countdown{t.Context(), 9}, Config{Name: "steps", Size: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	b := Bytes(r.Off, int(r.Size))
	for i := 0; i < len(b); i += 4096 {
		if b[i] != 0 {
			t.Fatalf("byte %d is %d", i, b[i])
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
