// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package agentcontrolextension

import (
	"testing"

	"github.com/weft-otel/weft/internal/threadtest/optiondoc"
)

func TestOptionsAreDocumented(t *testing.T) {
	optiondoc.Compare(t, "README.md", createDefaultConfig())
}
