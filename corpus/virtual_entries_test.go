// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

// virtualEntries are programs with virtual threads.
var virtualEntries []entry
