// SPDX-License-Identifier: Apache-2.0

package odp_test

import (
	"io"
	"log/slog"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))
