# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# A section of jvmtest.sh: weft-otel.jar starts the agent that it contains for this platform.

by_jar() { # calls, arguments of the JVM
    section "started by the jar: $*"
    calls=$1
    shift
    jar=$work/weft-otel.jar # without a library next to it
    cp "$built/weft-otel.jar" "$jar"
    listen
    WEFT_ENDPOINT=unix://$sock WEFT_SERVICE=jvmtest WEFT_OPTIONS=pool=256m,exit-wait=60s,depth=4 WEFT_PARK_DEPTH=0 WEFT_YIELD=on \
        timeout $patience "$java" "$@" -cp "$jar:$built/otel/*:$classes" ByJar Coverage "$calls" >"$work/out" 2>"$work/err"
    code=$?
    [ $code = 0 ] || bad "code $code: $(head -3 "$work/err")"
    heard
    grep -v '^WARNING: ' "$work/err" | grep . && bad "something on standard error"
    [ "$(wc -l <"$work/out")" -gt 10 ] || bad "output: $(head -3 "$work/out")"
    while read -r name count; do
        [ "$name" = worker.interrupted ] && [ "$major" -lt 14 ] && continue # as in coverage
        expect "$name" "$count"
    done <"$work/out"
}
