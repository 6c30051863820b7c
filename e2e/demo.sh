#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# Runs the sample exchange under the agent and prints why its threads wait; with --jaeger also in a real Jaeger.
# Requires make build (a prerequisite of make demo and make demo-jaeger).
#
# DEMO_SECONDS  how long the exchange runs (10)
# WEFT_WINDOW   length of a trace (1s)
# DEMO_ONCE     not empty: stop the page and Jaeger at the end; the default in CI and without a terminal
set -eu
cd "$(dirname "$0")/.."
if [ -n "${CI:-}" ] || ! [ -t 0 ]; then
    DEMO_ONCE=1
    export DEMO_ONCE
fi
go build -o build/demo ./e2e/demo
exec build/demo "$@"
