# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Is all well with many threads, at one time or one after another, and with virtual ones? Sections of jvmtest.sh.

churn() {
    section "20000 threads"
    listen
    traced Churn 20000
    heard
    expect worker.threadStart 20000
    expect worker.threadEnd 20000
    expect worker.startCalled 20000
}

# What was announced of threads that are not recorded is forgotten when they end, as it is of those that are.
excluded() {
    section "20000 threads that are not recorded"
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

# So many threads at one time; the agent's memory does not grow with them. Virtual threads are known by their events.
# A JVM touches 48 KiB more of each thread's stack in one run than in another (its stack banging), with an agent or without:
# the least of some runs with the agent is compared with the least of three without.
many() { # count, kind, KiB that the agent may take for each
    section "$1 $2 threads at one time"
    flags="-Xmx512m -XX:+AlwaysPreTouch -Xms512m"
    before=$(for i in 1 2 3; do "$java" $flags -cp "$classes" Many "$1" "$2"; done | sort -n | head -1)
    # Retained batches and definitions; of each platform thread a chunk of the pool, and of its stack what the agent needs.
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

virtual() {
    "$java" -cp "$classes" Virtual >/dev/null 2>&1 || return
    section "virtual threads"
    listen
    traced Virtual
    [ "$(cat "$work/out")" = "virtual 10000" ] || bad "$(cat "$work/out" "$work/err")"
    heard
    expect 'Virtual$Lock.notify' 10000
    # Carriers that have nothing to carry park, which is not told. (Whoever starts a virtual thread may park at the same
    # ForkJoinPool for a moment, and rightly is: ForkJoinPool.spinLockRunState.)
    [ "$(value carriers)" -gt 0 ] || bad "no carriers"
    expect carrier.park 0
    expect worker.park 100
    expect worker.unpark 100 # by a virtual thread
    more=,mounts=on
    listen
    traced -Xcheck:jni Virtual
    more=
    [ "$(cat "$work/out")" = "virtual 10000" ] || bad "$(cat "$work/out" "$work/err")"
    heard
    [ "$(value mount)" = "$(value unmount)" ] || bad "$(value mount) mounts, $(value unmount) unmounts"
    # At 10 000 parks, 1 001 ends and, from JDK 24 on, 10 000 waits: before, those keep a thread on its carrier.
    least=21001
    [ "$major" -lt 24 ] && least=11001
    [ "$(value unmount)" -ge $least ] || bad "$(value unmount) unmounts"
    more=,virtual=off
    listen
    traced -Xcheck:jni Virtual
    more=
    heard
    expect mount 0
    [ -x "$java.aarch64" ] || many 100000 virtual 1 # emulated, it takes minutes
}
