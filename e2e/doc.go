// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package e2e answers: does the whole of it work, as built, on real JVMs? Its tests run programs whose interactions are known in advance
// (folder jvm) under the agent, on each JDK that is found, against the built collector and a real Jaeger, and compare exact counts.
//
// Tests wait for what they see (output, health, files, answers), never for time to pass. They need what make build and build/jaeger make.
package e2e
