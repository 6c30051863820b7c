// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package e2e tests the built product on real JVMs. Its tests run programs whose interactions are known in advance
// (folder jvm) under the agent, on each available JDK, against the built collector and a real Jaeger, and compare exact counts.
//
// Tests wait for observable signals (output, health, files, responses), never for time to pass. They require make build and build/jaeger.
package e2e
