// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package recording answers: what do all formats of recordings have in common? A Format turns bytes into what a Sink takes (the session,
// its threads, batches of events in order, what is wrong in the recording), and says what it cannot carry. The formats themselves are
// packages of their own.
//
// Bytes are pushed: a Decoder is an io.Writer, so that a file, a decompressor and something that follows a growing file all do.
//
//	decoder := format.New(recording.Options{File: path, Symbols: sym}, sink)
//	_, err := io.Copy(decoder, file)
//	err = errors.Join(err, decoder.Close())
//
// Bad input is never an error of a Decoder: it is told to the sink as a Problem and counted, and reading goes on behind it.
package recording
