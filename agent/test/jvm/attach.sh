# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Does an agent that comes later see everything? Sections of jvmtest.sh.

# Starts a program that prints "ready" and waits for a line on its standard input, which is file 8.
start_waiting() {
    mkfifo "$work/start"
    timeout 600 "$java" "$@" <"$work/start" >"$work/out" 2>"$work/err" &
    jvm=$!
    exec 8>"$work/start"
    rm "$work/start"
    for i in $(seq 4000); do
        grep -q '^ready$' "$work/out" && break
        sleep 0.05
    done
}

# The process of Java, below that of timeout.
child_of() {
    tr -d ' ' <"/proc/$1/task/$1/children"
}

# As coverage, of code that ran, and was compiled, before there were hooks.
covered_later() { # calls before, flags
    section "coverage after attach $*"
    before=$1
    shift
    start_waiting "$@" -cp "$classes" Coverage 20000 "$before"
    listen
    timeout 300 "$weft" attach --agent "$agent" "$(child_of $jvm)" endpoint=unix://"$sock" service=jvmtest \
        pool=256m yield=on depth=4 park-depth=0 >"$work/told" 2>&1 || bad "attach: $(cat "$work/told")"
    echo go >&8
    exec 8>&-
    wait $jvm || bad "the JVM ends with $?: $(head -3 "$work/err")"
    heard
    grep -v '^WARNING: ' "$work/err" | grep . && bad "something on standard error"
    [ "$(sed -n '2,$p' "$work/out" | wc -l)" -gt 10 ] || bad "output: $(head -3 "$work/out")"
    sed 1d "$work/out" >"$work/truth"
    while read -r name count; do
        expect "$name" "$count"
    done <"$work/truth"
}
