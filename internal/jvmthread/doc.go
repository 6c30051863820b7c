// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package jvmthread answers: what do we talk about? It holds the vocabulary that every other package shares: events, states, intervals,
// interactions, and the identities of threads, locks and stacks. It has no logic beyond naming.
//
// All types are plain comparable values without pointers, so that a million of them cost the garbage collector nothing. The words mean
// what docs/glossary.md says.
package jvmthread
