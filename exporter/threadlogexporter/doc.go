// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:generate go tool -modfile=../../tools/go.mod mdatagen metadata.yaml

// Package threadlogexporter writes raw thread events to files, in a format that other tools read.
package threadlogexporter
