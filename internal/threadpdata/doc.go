// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package threadpdata answers: how does what the engine knows look as OpenTelemetry data? It is the only package that knows both the model
// and pdata. It has three parts: the carrier, in which raw events travel between components (carrier*.go); the trace of a window, which
// people look at (spans*.go); and the names of all attributes (attributes.go, the same list as docs/semantic-conventions.md).
package threadpdata
