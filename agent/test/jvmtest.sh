#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Tests the agent in real JVMs: it reports what happens and does not disturb the program. Arguments:
# the agent, the fake receiver, the folder of the compiled programs, then the homes of the JDKs.
set -u
agent=$1 receiver=$2 classes=$3
shift 3
if [ $# -gt 1 ]; then # as many JDKs at once as there are processors
    JVMTEST_FAILURES=$(mktemp)
    export JVMTEST_FAILURES
    trap 'rm -f "$JVMTEST_FAILURES"' EXIT
    printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} "$0" "$agent" "$receiver" "$classes" {}
    code=$?
    cat "$JVMTEST_FAILURES" # once more at the end: the output of the JDKs is mixed
    exit $code
fi
home=$1
checked=$(dirname "$receiver")/libweft_check.so # the agent that compares each stack with JVMTI
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sock=$work/weft.sock
built=$(dirname "$receiver")/..
weft=$built/weft # of this machine, even where the JVM is emulated
failed=0
java=
more= # options of the agent
early= # option of the JVM before it

bad() {
    echo "     $major: failed: $*"
    failed=$((failed + 1))
    echo "failed: $version, $section: $*" | tee -a "${JVMTEST_FAILURES:-/dev/null}" >>"$work/failures"
}

# Names the checks that follow.
section() {
    section=$*
    echo "   $major: $*"
}

listen() { # arguments of the receiver
    rm -f "$sock"
    "$receiver" "$sock" "$@" >"$work/seen" &
    receiver_pid=$!
    while [ ! -S "$sock" ] && kill -0 $receiver_pid; do sleep 0.02; done
}

# Room for every event while the sender is starved of processor time: otherwise losses depend on the machine's load. Sections
# about losses set their own limits.
roomy=,pool=256m,exit-wait=60s
room=$roomy

# Ends hanging programs. No test depends on how long something takes.
patience=900

# Runs a program under the agent against the receiver; output and code go to out, err, code.
traced() {
    timeout $patience "$java" $early -agentpath:"$agent=endpoint=unix://$sock,service=jvmtest$room$more" -cp "$classes" "$@" >"$work/out" 2>"$work/err"
    code=$?
}

# Waits until the receiver has everything; callers check for losses.
heard_some() {
    for i in $(seq 6000); do
        kill -0 $receiver_pid 2>/dev/null || break
        sleep 0.05
    done
    kill $receiver_pid 2>/dev/null # no end came
    wait $receiver_pid
    grep -q '^problem none$' "$work/seen" || bad "$(grep '^problem' "$work/seen")"
    grep -q '^end 1$' "$work/seen" || bad "no end frame"
}

heard() {
    heard_some
    [ "$(value lost)" = 0 ] || bad "lost $(value lost)"
}

value() {
    found=$(sed -n "s/^$1 //p" "$work/seen" | awk '{ sum += $1 } END { print sum + 0 }')
    echo "${found:-0}"
}

expect() { # name, count
    name=$(echo "$1" | sed 's/[.$]/\\&/g')
    grep -q '^problem none$' "$work/seen" || return # the counts mean nothing
    [ "$(value "$name")" = "$2" ] || bad "$1 is $(value "$name"), not $2"
}

for part in "$(dirname "$0")"/jvm/*.sh; do . "$part"; done

# For runtimes of other versions: what may differ there.
some() {
    details -Xcheck:jni
    parks -Xcheck:jni
    calls=20000
    [ -x "$java.aarch64" ] && calls=1000 # it is emulated
    coverage -Xcheck:jni Coverage $calls
    by_jar $calls -Xcheck:jni
    same Ways exit
    same -XX:+UseSerialGC -Xmx64m Ways return
    quiet
    expiring
    virtual
    exact
    initializing -Xcheck:jni
    [ -x "$java.aarch64" ] || pinned -Xcheck:jni # its library is for this processor
    running
    [ -x "$java.aarch64" ] || attached_virtual 50 -Xcheck:jni # the agent looks for a limited time
    [ "$major" -lt 21 ] || [ -x "$java.aarch64" ] || torture
}

# virtual=exact under load.
torture() {
    crowded $verified -Xcheck:jni
    crowd_lost
    crowd_alone
    crowd_shared
    crowd_replaced
    crowd_attached
}

all() {
    counts -Xint
    counts -Xcomp
    parks -Xcheck:jni
    parks -Xint
    parks -Xcomp
    coverage Coverage 100000
    coverage -Xint Coverage 20000
    coverage -Xcomp Coverage 20000
    coverage -Xcheck:jni Coverage 20000
    covered_later 8000
    covered_later 200 -Xint
    covered_later 200 -Xcomp
    by_jar 20000 -Xcheck:jni
    by_jar 20000 -Xcomp
    unseen
    sums
    sums -Xcheck:jni
    sums -Xcomp
    contexts -Xcheck:jni
    contexts -Xcomp
    early_contexts
    brief_contexts
    silent_contexts
    contexts_again
    carried -Xcheck:jni
    carried -Xcomp
    published libpublisher.so
    published libjavaProfiler123.so flagless
    published libpublisher.so flagless described
    order -Xcheck:jni
    order -Xcomp
    durations
    filters
    modes
    company
    stacks -Drounds=500
    stacks -Drounds=300 -Xint
    stacks -Drounds=300 -Xcomp
    stacks -Drounds=500 -XX:-TieredCompilation
    stacks -Drounds=500 -XX:TieredStopAtLevel=1
    same Ways return
    same Ways exit
    same Ways halt
    same Ways throw
    same Ways fork
    for gc in Serial Parallel G1 Z Shenandoah Epsilon; do
        flags="-XX:+Use${gc}GC -Xmx64m"
        [ $gc = Epsilon ] && flags="-XX:+UnlockExperimentalVMOptions -XX:+UseEpsilonGC -Xmx2g -Xlog:disable"
        "$java" $flags -version >/dev/null 2>&1 && same $flags Ways return && parks $flags && stacks $flags -Drounds=300
    done
    quiet
    terminated
    lonely
    expiring -Xcheck:jni
    expiring -Xcomp
    signals
    squatted
    silenced
    options
    attached -Xcheck:jni
    summed
    reported_connection
    concealed
    returned
    arriving
    recorded
    churn
    excluded
    many 5000 platform 24
    virtual
    exact
    pinned -Xcheck:jni
    initialized
    initializing -Xcheck:jni
    initializing -Xcomp
    running
    attached_virtual 50 -Xcheck:jni
    notices_of_virtual
    [ "$major" -lt 21 ] || torture
    layout
    lacking
}

java=$home/bin/java
version=$("$java" -version 2>&1 | head -1)
major=$("$java" -version 2>&1 | sed -n '1s/[^"]*"\([0-9]*\).*/\1/p')
echo "$version"
if [ -n "${JVMTEST:-}" ]; then # sections to run instead of all, such as "churn; parks -Xint"
    eval "$JVMTEST"
else
    counts -Xcheck:jni
    if [ -x "$home/bin/javac" ]; then all; else some; fi
fi
[ $failed = 0 ] && echo "ok   jvmtest $version" || { echo "FAIL jvmtest $version: $failed" && cat "$work/failures"; }
[ $failed = 0 ]
