// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:generate go tool -modfile=../../tools/go.mod mdatagen metadata.yaml

// Package threadspanprocessor turns raw thread events into spans and links.
package threadspanprocessor
