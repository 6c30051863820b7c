// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:generate go tool -modfile=../../tools/go.mod mdatagen metadata.yaml

// Package threadviewexporter serves a page that shows the threads of JVMs, why they wait, and for which thread.
package threadviewexporter
