// SPDX-License-Identifier: Apache-2.0

package afxdp

import (
	"testing"

	"github.com/odp-go/godp/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
