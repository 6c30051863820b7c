# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Sections of jvmtest.sh: many threads, concurrent or in sequence, and virtual threads.

churn() {
    section "20000 threads"
    listen
    traced Churn 20000
    heard
    expect worker.threadStart 20000
    expect worker.threadEnd 20000
    expect worker.startCalled 20000
}

# Announcements of excluded threads are forgotten when the threads end, like those of recorded ones.
excluded() {
    section "20000 excluded threads"
    for more in '' ',exclude-threads=worker-*'; do
        listen
        traced -Xmx64m -Xms64m -XX:+AlwaysPreTouch Churn 20000 20000
        [ $code = 0 ] || bad "code $code: $(head -3 "$work/err")"
        heard
        mv "$work/out" "$work/memory${more:+.excluded}"
    done
    more=
    [ "$(cat "$work/memory.excluded")" -lt $(($(cat "$work/memory") + 100 * 1024)) ] ||
        bad "$(cat "$work/memory.excluded") KiB, and $(cat "$work/memory") with those that are recorded"
}

# Many concurrent threads; the memory of the agent does not grow with them. Virtual threads are recognized by their events.
# With or without the agent, a JVM touches up to 48 KiB more of each thread's stack in some runs (stack banging), so this
# compares the minimum of several runs with the minimum of three runs without the agent.
many() { # count, kind, KiB that the agent may take for each
    section "$1 concurrent $2 threads"
    flags="-Xmx512m -XX:+AlwaysPreTouch -Xms512m"
    before=$(for i in 1 2 3; do "$java" $flags -cp "$classes" Many "$1" "$2"; done | sort -n | head -1)
    # Retained batches and definitions; for each platform thread a chunk of the pool, and the part of its stack that the agent uses.
    most=$((before + 60 * 1024 + $1 * $3))
    for i in 1 2 3 4 5; do
        listen
        traced $flags Many "$1" "$2"
        [ $code = 0 ] || bad "code $code: $(head -3 "$work/err")"
        heard
        expect 'Many$Gate.park' "$1"
        expect worker.unparked "$1"
        expect worker.threadStart "$1"
        expect worker.threadEnd "$1"
        [ "$(cat "$work/out")" -lt $most ] && return
    done
    bad "$(($(cat "$work/out") - before)) KiB more"
}

virtual() { # flags
    "$java" "$@" -cp "$classes" Virtual >/dev/null 2>&1 || return
    section "virtual threads $*"
    listen
    traced "$@" Virtual
    [ "$(cat "$work/out")" = "virtual 10000" ] || bad "$(cat "$work/out" "$work/err")"
    heard
    expect 'Virtual$Lock.notify' 10000
    # Parks of idle carriers are not recorded. (A thread that starts a virtual thread may park at the same ForkJoinPool for a
    # moment, which is recorded: ForkJoinPool.spinLockRunState.)
    [ "$(value carriers)" -gt 0 ] || bad "no carriers"
    expect carrier.park 0
    expect worker.park 100
    expect worker.unpark 100 # by a virtual thread
    more=,mounts=on
    listen
    traced -Xcheck:jni "$@" Virtual
    more=
    [ "$(cat "$work/out")" = "virtual 10000" ] || bad "$(cat "$work/out" "$work/err")"
    heard
    [ "$(value mount)" = "$(value unmount)" ] || bad "$(value mount) mounts, $(value unmount) unmounts"
    # At 10 000 parks, 1 001 ends and, from JDK 24 on, 10 000 waits, which earlier pin a thread to its carrier.
    least=21001
    [ "$major" -lt 24 ] && least=11001
    [ "$(value unmount)" -ge $least ] || bad "$(value unmount) unmounts"
    more=,virtual=off
    listen
    traced -Xcheck:jni "$@" Virtual
    more=
    heard
    expect mount 0
    # Emulated, it takes minutes.
    [ $# != 0 ] || [ -x "$java.aarch64" ] || many 100000 virtual 1
}
