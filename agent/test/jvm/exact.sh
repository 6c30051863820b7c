# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Sections of jvmtest.sh: virtual=exact, who makes virtual threads ready to run.

# Events of a kind about a virtual thread, with the flag that the JVM's timer called, or without it.
made_ready() { # kind, timedOut or nothing
    awk -v kind="$1" -v timed="${2:-}" '/ virtualPeer$/ && $0 ~ " " kind " " && (/ timedOut /) == (timed != "")' "$work/seen" | wc -l
}

# Compares with what the program has done. Each interrupt unparks as well.
as_counted() {
    for word in $(grep '^wakes ' "$work/out" | tail -1); do
        case $word in *=*) eval "${word%=*}=${word#*=}" ;; esac
    done
    for check in "startCalled $started" "unpark $((unparked + interrupted))" "interruptCalled $interrupted"; do
        [ "$(made_ready ${check% *})" = "${check#* }" ] || bad "$(made_ready ${check% *}) $check"
    done
    [ "$(made_ready unpark timedOut)" = "$expired" ] || bad "$(made_ready unpark timedOut) timeouts of $expired"
    [ "$(grep -c ' mount ' "$work/seen")" = "$(grep -c ' unmount ' "$work/seen")" ] || bad "mounts without end"
}

counted() { # flags
    listen events=1
    more=,virtual=exact
    traced "$@" Wakes
    more=
    [ $code = 0 ] || bad "code $code: $(head -3 "$work/err")"
    [ "$(wc -l <"$work/out")" = 1 ] || bad "output: $(head -3 "$work/out")"
    [ -s "$work/err" ] && bad "errors: $(head -3 "$work/err")"
    heard
    as_counted
}

exact() {
    if [ "$major" -lt 21 ]; then
        exact_refused
        return
    fi
    section "exact"
    # The JVM does not verify its own classes unless requested.
    counted -XX:+UnlockDiagnosticVMOptions -XX:+BytecodeVerificationLocal -Xcheck:jni
    counted -Xcomp
    for gc in Serial Z; do
        counted -XX:+Use${gc}GC -Xmx64m
    done
    exact_again
    exact_attached
}

exact_refused() {
    section "exact without virtual threads"
    listen
    more=,virtual=exact
    traced Ways return
    more=
    [ "$(grep -c '^weft: virtual=exact has the effect of virtual=on: Java ' "$work/err")" = 1 ] || bad "errors: $(head -3 "$work/err")"
    heard
}

# After a detach, the methods are as before; after an attach, the calls are there again.
exact_again() {
    section "exact, detached and attached again"
    start_waiting ready -Xcheck:jni -cp "$classes" Wakes wait
    for extent in exact on exact; do
        listen events=1
        attach endpoint=unix://"$sock" pool=256m exit-wait=60s virtual=$extent || bad "attach: $(cat "$work/report")"
        runs=$(grep -c '^wakes ' "$work/out")
        echo run >&9
        until [ "$(grep -c '^wakes ' "$work/out")" -gt "$runs" ] || ! kill -0 $runner; do sleep 0.05; done
        detach
        heard
        if [ $extent = exact ]; then
            as_counted
        else
            grep ' virtualPeer$' "$work/seen" && bad "the methods still call the agent"
        fi
    done
    exec 9>&-
    wait $runner || bad "the JVM exited with $?: $(head -3 "$work/err")"
}

# Attached and detached while virtual threads are started, unparked and interrupted.
exact_attached() {
    section "exact, attached ${ATTACHES:-10} times under load"
    start_waiting ready -Xcheck:jni -cp "$classes" Wakes wait
    for round in $(seq "${ATTACHES:-10}"); do
        listen
        echo run >&9
        attach endpoint=unix://"$sock" pool=256m exit-wait=60s virtual=exact || bad "attach: $(cat "$work/report")"
        detach
        heard
    done
    exec 9>&-
    wait $runner || bad "the JVM exited with $?: $(head -3 "$work/err")"
    [ "$(grep -c '^wakes ' "$work/out")" = "${ATTACHES:-10}" ] || bad "$(grep -c '^wakes ' "$work/out") runs"
}
