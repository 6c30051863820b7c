// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !bundled

package bundled

import (
	"os"

	"github.com/weft-otel/weft/agent/attach"
)

func library(p attach.Platform) (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	return find(places(program, p), p)
}
