#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# Runs the sample exchange under weft run, which prints why its threads wait, and serves the page with weft view. With --jaeger, a collector
# sends the spans to a real Jaeger instead. Builds what it needs; the output of the build goes to build/demo/build.log.
#
# DEMO_SECONDS  how long the exchange runs (10)
# DEMO_ONCE     not empty: do not serve the page or Jaeger at the end; the default in CI and without a terminal
# WEFT_WINDOW   with --jaeger: length of a trace (1s)
set -eu
cd "$(dirname "$0")/.."
if [ -n "${CI:-}" ] || ! [ -t 0 ]; then
    DEMO_ONCE=1
    export DEMO_ONCE
fi
out=build/demo
mkdir -p $out/classes
log=$out/build.log
began=$(date +%s)

# Shows that a step goes on; its output is printed only if it fails.
step() { # what, command...
    what=$1
    shift
    "$@" >>$log 2>&1 &
    building=$!
    trap 'kill $building 2>/dev/null; exit 130' INT TERM
    if [ -t 2 ]; then
        while kill -0 $building 2>/dev/null; do
            printf '\r%s … %d s ' "$what" $(($(date +%s) - began)) >&2
            sleep 1
        done
        printf '\r\033[K' >&2
    else
        echo "$what …" >&2
    fi
    wait $building || {
        code=$?
        cat $log >&2
        exit $code
    }
    trap - INT TERM
}

: >$log
scripts/need.sh cc javac
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
if [ "${1:-}" = --jaeger ]; then
    step "Building the agent, the collector and Jaeger (minutes)" make build build/jaeger
    step "Building the demo" go build -o build/demo/demo ./demo
    exec build/demo/demo
fi
step "Building the agent and the command" make build/libweft.so build/weft
step "Compiling the exchange" "${java}c" --release 11 -d $out/classes e2e/jvm/com/acme/orders/*.java
echo "Running a small stock exchange: weft run -- java com.acme.orders.Exchange"
build/weft run --force --output $out/exchange.weft --agent build/libweft.so service=exchange -- \
    "$java" -cp $out/classes com.acme.orders.Exchange "${DEMO_SECONDS:-10}"
[ -n "${DEMO_ONCE:-}" ] || exec build/weft view $out/exchange.weft
