// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package native answers: what does a native recording say? That is the stream protocol in a file: what an agent writes with file=PATH, or
// an exporter for it: preamble, hello, definitions, batches, and, if the JVM ended in order, the end.
//
// It loses nothing, reads and writes faster than any text, and a file that breaks off is good to its last whole frame. An index frame
// lets a reader take a part of a large file without reading the rest (Part). docs/formats/native.md has the details.
package native
