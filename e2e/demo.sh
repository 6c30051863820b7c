#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# Runs the sample exchange under the agent and tells why its threads wait; with --jaeger also in a real Jaeger.
# Needs what make build makes (make demo and make demo-jaeger see to that).
#
# DEMO_SECONDS  how long the exchange is open (10)
# WEFT_WINDOW   length of a trace (1s)
# DEMO_ONCE     not empty: do not leave the page or Jaeger running at the end; so it is in CI, and where nobody sits at a
#               terminal
set -eu
cd "$(dirname "$0")/.."
if [ -n "${CI:-}" ] || ! [ -t 0 ]; then
    DEMO_ONCE=1
    export DEMO_ONCE
fi
go build -o build/demo ./e2e/demo
exec build/demo "$@"
