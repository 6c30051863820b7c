// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package jvmthread defines the vocabulary that all other packages share: events, states, intervals, interactions, and the identities of
// threads, locks and stacks. It has no logic beyond naming.
//
// Events, intervals, interactions and holds contain no pointers, so the garbage collector does not scan them. docs/glossary.md defines the
// words.
package jvmthread
