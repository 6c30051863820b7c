// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package bundled answers: which build of the agent is for a JVM, and where is its file?
//
// With the build tag bundled, the program contains the builds for all platforms (make agents) and unpacks them into the cache folder of the
// user. Without it, they are looked for where a build and an installation put them.
package bundled

import "github.com/weft-otel/weft/agent/attach"

// Library returns the path of the agent's library for a platform. Errors name a remedy.
func Library(p attach.Platform) (string, error) { return library(p) }
