// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package threadtest

// Race says that the race detector is on, under which everything takes ten times as long.
const Race = false
