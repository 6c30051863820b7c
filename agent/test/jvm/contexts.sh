# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# A section of jvmtest.sh: the current span is reported by threads that wait, and only by those.

by_thread() {
    sort -s -k 1,1 "$@"
}

# A park may return for no reason, and a lock parks again: leaves out a park like the one before it.
once_parked() {
    awk '
        $2 == "park" { park = $0; next }
        park == "" { last = ""; print; next }
        { park = park "\n" $0 }
        $2 == "unparked" { if (park != last) print park; last = park; park = "" }
        END { if (park != "") print park }'
}

contexts() { # arguments of the JVM
    section "contexts $*"
    listen events=1
    traced "$@" -Dvirtual=$([ "$major" -ge 21 ] && echo true) Contexts
    [ $code = 0 ] || bad "code $code: $(head -3 "$work/err")"
    heard
    sed -n 's/^[0-9][0-9]* worker-/worker-/p' "$work/seen" |
        awk '$1 !~ /^worker-virtual/ || $2 ~ /^(context|ownerContext|requestEnd)$/' | by_thread | once_parked >"$work/reported"
    by_thread "$work/out" >"$work/happened"
    [ "$(wc -l <"$work/happened")" -ge "${least:-50}" ] || bad "only $(wc -l <"$work/happened") events"
    diff "$work/happened" "$work/reported" >"$work/other" || bad "what happened (<) and what the agent reports (>) differ: $(cat "$work/other")"
}

# A Java agent named before this one calls it before the session begins.
early_contexts() {
    printf 'Premain-Class: Contexts\n' >"$work/manifest"
    "$home/bin/jar" --create --file "$work/premain.jar" --manifest "$work/manifest" -C "$classes" Contexts.class
    early="-javaagent:$work/premain.jar"
    contexts -Xcheck:jni
    early=
}

# Waits that are too short to be sent report no span.
brief_contexts() {
    more=,include-threads=worker-*,min-duration=200ms
    least=15
    contexts -Dminimum=true -Dlong=300
    least= more=
}

# All of it with filters and modes that record no waits: nothing is reported.
silent_contexts() {
    for more in ,exclude-threads=worker-* ,mode=aggregated ,pause=on; do
        section "no contexts $more"
        listen
        traced -Dsilent=true Contexts
        [ $code = 0 ] && [ ! -s "$work/err" ] || bad "code $code: $(head -3 "$work/err")"
        heard
        for kind in context ownerContext requestEnd; do expect $kind 0; done
    done
    more=
}

# The span of a request that outlives a session, and a pause, is reported again; what changes meanwhile is not.
contexts_again() {
    section "contexts in two sessions"
    start_waiting ready -cp "$classes" Contexts commands
    for round in 1 2; do
        listen events=1
        attach endpoint=unix://"$sock" exit-wait=60s || bad "attach: $(cat "$work/report")"
        [ $round = 1 ] || prints "weft-otel.jar reports the current spans"
        [ $round = 2 ] || commanded 'span 1'
        for what in sleep sleep; do commanded $what; done
        if [ $round = 2 ]; then
            attach pause=on
            attach pause=off
            for what in sleep 'end all'; do commanded "$what"; done
        fi
        detach
        [ $round = 2 ] || commanded 'span 2' # no session
        heard
        grep -o ' main \(context\|sleepStart\|requestEnd\) .*' "$work/seen" | cut -d ' ' -f 3,5 | tr '\n' ' ' >"$work/order"
        order="context span=1 sleepStart - sleepStart - "
        [ $round = 1 ] || order="context span=2 sleepStart - sleepStart - context span=2 sleepStart - context span=1 requestEnd span=1 context span=0 "
        [ "$(cat "$work/order")" = "$order" ] || bad "$(cat "$work/order")"
    done
    exec 9>&-
    wait $runner || bad "the JVM exited with $?: $(head -3 "$work/err")"
}

# The span that another library publishes is read before waits, and taken for unsampled by its flags, unless that library's are always 0.
published() { # name of the library, more arguments of the program
    section "published contexts $*"
    library=$work/$1
    shift
    cp "$(dirname "$receiver")/libthread_context.so" "$library"
    start_waiting ready -cp "$classes" Published "$library" "$@"
    listen events=1
    attach endpoint=unix://"$sock" exit-wait=60s || bad "attach: $(cat "$work/report")"
    prints "current spans are those that $(basename "$library") publishes"
    echo >&9
    until grep -q '^over$' "$work/out" || ! kill -0 $runner; do sleep 0.05; done
    detach
    heard
    echo >&9
    exec 9>&-
    wait $runner || bad "the JVM exited with $?: $(head -3 "$work/err")"
    grep '^worker-' "$work/out" | by_thread >"$work/happened"
    sed -n 's/^[0-9][0-9]* worker-/worker-/p' "$work/seen" | by_thread | once_parked >"$work/reported"
    [ "$(wc -l <"$work/happened")" -ge 40 ] || bad "only $(wc -l <"$work/happened") events"
    diff "$work/happened" "$work/reported" >"$work/other" || bad "what happened (<) and what the agent reports (>) differ: $(cat "$work/other")"
}

# Other programs see the span of the virtual thread that runs, and of no other: also while nothing is recorded, and between sessions.
carried() { # arguments of the JVM
    [ "$major" -ge 21 ] || return
    section "carried contexts $*"
    one="-Djdk.virtualThreadScheduler.parallelism=1 -Djdk.virtualThreadScheduler.maxPoolSize=1"
    start_waiting ready "$@" $one -cp "$classes" Carried "$(dirname "$receiver")/libcarried.so" "$agent"
    listen
    attach endpoint=unix://"$sock" exit-wait=60s || bad "attach: $(cat "$work/report")"
    for what in share alternate hold; do commanded $what; done
    attach pause=on
    for what in release alternate hold; do commanded $what; done
    attach pause=off
    for what in release hold; do commanded $what; done
    detach
    heard
    grep OTEL_CTX "/proc/$jvm/maps" && bad "a process context is left"
    for what in release alternate hold; do commanded $what; done
    listen
    attach endpoint=unix://"$sock" exit-wait=60s mounts=on virtual=off || bad "attach: $(cat "$work/report")"
    for what in release alternate share; do commanded $what; done
    detach
    heard
    expect mount 0
    exec 9>&-
    wait $runner || bad "the JVM exited with $?: $(head -3 "$work/err")"
    [ "$(grep -c '^right$' "$work/out")" = 14 ] || bad "$(cat "$work/out")"
}
