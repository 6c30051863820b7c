// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package threadtest

// Race reports whether the race detector is enabled, which slows down everything by a factor of ten.
const Race = false
