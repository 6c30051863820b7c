// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:generate go tool -modfile=../../tools/go.mod mdatagen metadata.yaml

// Package threadengineextension answers: which components analyze sessions together? Components that name the extension in their option
// engine share its sessions: each carrier is decoded and put in order once, and a window has one critical path and one selection of spans. A
// component that names none runs its own engine:
//
//	analyzer, err := threadengineextension.Analyzer(ctx, host, owner, &cfg.Sessions, logger)
//	member := analyzer.Join(sessions.MemberSettings{...})
package threadengineextension
