// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package jfr answers: what does a flight recording of the JDK tell about threads? It reads .jfr files of JDK 11 and later and turns
// what they say of monitors, waits, parks, sleeps and the lives of threads into the events of package jvmthread.
//
// It knows the format itself (chunks, metadata, constant pools) and the names of the events and fields that it wants, but no layout: that
// comes from each chunk's own metadata. A chunk is read in passes over a window of the file, so memory depends on its constants and on a
// limit on events, not on its size. docs/formats/jfr.md says what is mapped to what.
package jfr
