// SPDX-License-Identifier: Apache-2.0

package wrap

import (
	"testing"

	"github.com/odp-go/godp/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
