// SPDX-License-Identifier: Apache-2.0

package loop

// FillFrame is for tests.
var FillFrame = fillFrame
