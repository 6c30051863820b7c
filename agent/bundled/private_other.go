// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package bundled

import "errors"

const fileMode = 0o500

func private(string, []string) (string, error) {
	return "", errors.New("the agent supports Linux only")
}

func holds(string, []byte) bool { return false }
