// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package stream

import (
	"io/fs"
	"os"
)

// Agents exist on Linux only; elsewhere the receiver serves tests.

func owner(fs.FileInfo) int { return os.Geteuid() }

func mayCreateIn(string) bool { return false }

func setSocketMode(path string, mode fs.FileMode) error { return os.Chmod(path, mode) }
