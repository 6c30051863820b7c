// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:generate go tool -modfile=../../tools/go.mod mdatagen metadata.yaml

// Package contentionconnector turns raw thread events into metrics of contention, and deadlocks into log records.
package contentionconnector
