// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import "github.com/weft-otel/weft/corpus/spantest"

type (
	span   = spantest.Span
	spanID = spantest.ID
	link   = spantest.Link
	output = spantest.Output
)
