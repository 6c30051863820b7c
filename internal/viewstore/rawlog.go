// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package viewstore

// rawLog is the events of a block, as they came.
type rawLog struct{ data []byte }

func (r *rawLog) size() int64 { return int64(len(r.data)) }

// rawBuffer gathers the events of the next block.
type rawBuffer struct{}

func (r *rawBuffer) reset() {}

func (r *rawBuffer) take() rawLog { return rawLog{} }
