// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package recording defines what all recording formats have in common. A [Format] decodes bytes into calls of a [Sink] (sessions, threads,
// ordered batches of events, problems) and states what it cannot represent. Each format is a package of its own below this one.
//
// Decoders are writers, so that files, decompressors and tails of growing files can all feed them:
//
//	decoder := format.New(recording.Options{File: path, Symbols: sym}, sink)
//	_, err := io.Copy(decoder, file)
//	err = errors.Join(err, decoder.Close())
//
// Malformed input never makes a Decoder fail. It is reported to the sink as a [Problem] and counted, and decoding resumes after it.
package recording
