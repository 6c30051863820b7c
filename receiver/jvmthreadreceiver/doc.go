// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:generate go tool -modfile=../../tools/go.mod mdatagen metadata.yaml

// Package jvmthreadreceiver takes thread events from agents inside JVMs and hands them on as raw events.
package jvmthreadreceiver
