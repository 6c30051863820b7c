# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Sections of jvmtest.sh: an agent attached to a running JVM sees everything.

# Starts a program that prints a word when it is ready, and then reads lines from file descriptor 9.
start_waiting() { # word, arguments of java
    word=$1
    shift
    rm -f "$work/out" "$work/pid" # of a program before
    mkfifo "$work/commands"
    timeout $patience sh -c 'echo $$ >"$0" && exec "$@"' "$work/pid" "$java" "$@" <"$work/commands" >"$work/out" 2>"$work/err" &
    runner=$! # ends as the program does
    exec 9>"$work/commands"
    rm "$work/commands"
    until grep -qs "^$word\$" "$work/out" || ! kill -0 $runner; do sleep 0.05; done
    jvm=$(cat "$work/pid")
}

# The output of attach goes to the file report.
attach() { # options
    timeout $patience "$weft" attach --no-wait --verbose --timeout ${patience}s --agent "$agent" $jvm "$@" >"$work/report" 2>&1
}

detach() {
    timeout $patience "$weft" detach --timeout ${patience}s $jvm >"$work/report" 2>&1 || bad "detach: $(cat "$work/report")"
}

# Like coverage, for code that ran and was compiled before the hooks existed.
covered_later() { # calls before, flags
    section "coverage after attach $*"
    before=$1
    shift
    start_waiting ready "$@" -cp "$classes" Coverage 20000 "$before"
    listen
    attach endpoint=unix://"$sock" service=jvmtest pool=256m exit-wait=60s yield=on depth=4 park-depth=0 || bad "attach: $(cat "$work/report")"
    echo go >&9
    exec 9>&-
    wait $runner || bad "the JVM exited with $?: $(head -3 "$work/err")"
    heard
    grep -v '^WARNING: ' "$work/err" | grep . && bad "something on standard error"
    [ "$(sed -n '2,$p' "$work/out" | wc -l)" -gt 10 ] || bad "output: $(head -3 "$work/out")"
    sed 1d "$work/out" >"$work/truth"
    while read -r name count; do
        [ "$name" = worker.interrupted ] && [ "$major" -lt 14 ] && continue # as in coverage
        expect "$name" "$count"
    done <"$work/truth"
}

# A JVM whose threads are stuck before the attach: a snapshot finds what they wait for, later events are
# counted, options are changed or rejected, and a detached agent can be attached again.
attached() {
    [ -x "$weft" ] || { bad "$weft is missing"; return; }
    section "attach $*"
    start_waiting stuck "$@" -cp "$classes" Stuck
    for round in 1 2; do
        listen
        attach endpoint=unix://"$sock" service=jvmtest pool=64m exit-wait=60s || bad "attach: $(cat "$work/report")"
        grep -q '^  depth=32$' "$work/report" || bad "attach printed $(head -3 "$work/report")"
        if [ $round = 1 ]; then
            commanded 'work 100000'
            attach depth=3 notify=off
            grep -q '^  notify=off$' "$work/report" || bad "the second attach printed $(cat "$work/report")"
            commanded 'work 1000' # not seen
            attach notify=on dept=3 && bad "an invalid option was accepted"
            grep -q 'option "dept": unknown option' "$work/report" || bad "the error is $(cat "$work/report")"
            attach notify=on
        else
            commanded 'work 20000'
            commanded free
        fi
        detach
        commanded 'work 1000' # not seen
        heard
        expect 'Stuck$Worked.notify' $((round == 1 ? 100000 : 20000))
        expect 'Stuck$Left.contendedEnter' 1
        expect 'Stuck$Left.owned' 1
        expect 'Stuck$Right.contendedEnter' 1
        expect 'Stuck$Right.owned' 1
        expect 'Stuck$Held.contendedEnter' 1
        expect 'Stuck$Held.contendedEntered' $((round - 1))
        expect 'Stuck$Awaited.wait' 1
        expect 'Stuck$Worker.wait' 1
        expect 'Stuck$Worker.found.joinStart' 0
        expect 'java.util.concurrent.CountDownLatch$Sync.park' 1
        expect 'java.util.concurrent.locks.ReentrantLock$NonfairSync.owned' 1
    done
    echo end >&9
    exec 9>&-
    wait $runner || bad "the JVM exited with $?"
    [ "$(tr '\n' ' ' <"$work/out")" = "stuck worked worked worked worked free worked " ] || bad "output: $(cat "$work/out")"
    grep -v '^WARNING: ' "$work/err" && bad "something on standard error"
}

# Virtual threads that parked before the attach are in the snapshot, and each continues when it is mounted. Of threads that park again and
# again, none is found parked after it has continued.
attached_virtual() { # threads in each way, flags
    [ "$major" -lt 21 ] && return
    stuck=$1
    shift
    section "attach to $stuck virtual threads in each wait $*"
    start_waiting stuck "$@" -cp "$classes" StuckVirtual $stuck
    for round in 1 2; do
        listen events=1
        attach endpoint=unix://"$sock" service=jvmtest pool=256m exit-wait=60s || bad "attach: $(cat "$work/report")"
        [ $round = 1 ] || commanded free
        detach
        heard
        sort -s -n -k 1,1 "$work/seen" | grep -E '^[0-9]+ .* (park|unparked) ' >"$work/parks"
        for found in 'locked-[0-9]* park java.util.concurrent.locks.ReentrantLock\$NonfairSync main' 'asleep-[0-9]* park' \
            'park java.util.concurrent.CountDownLatch\$Sync'; do
            [ "$(grep "$found.* snapshot$" "$work/parks" | wc -l)" = "$stuck" ] || bad "$(grep -c "$found.* snapshot$" "$work/parks") found: $found"
        done
        ended=$(((round - 1) * stuck))
        [ "$(grep -c 'asleep-[0-9]* unparked .* interrupted$' "$work/parks")" = $ended ] || bad "not $ended interrupted"
        awk '$2 ~ /^(locked|asleep|restless)-/ {
                if ($3 == "unparked") { continued += parked[$2] && found[$2]; parked[$2] = found[$2] = 0; next }
                twice += parked[$2] && !/ snapshot$/
                parked[$2] = 1
                found[$2] = found[$2] || / snapshot$/
            } END { print twice + 0, continued + 0 }' "$work/parks" >"$work/order"
        read -r twice continued <"$work/order"
        [ "$twice" = 0 ] || bad "$twice times a thread parked that was parked"
        [ "$continued" -ge $((2 * ended)) ] || bad "$continued of the threads that were found continued, not $((2 * ended))"
    done
    echo end >&9
    exec 9>&-
    wait $runner || bad "the JVM exited with $?"
    [ "$(tr '\n' ' ' <"$work/out")" = "stuck free " ] || bad "output: $(cat "$work/out")"
    grep -v '^WARNING: ' "$work/err" && bad "something on standard error"
}

# A snapshot says if it does without virtual threads, or without some of them.
notices_of_virtual() {
    [ "$major" -lt 21 ] && return
    section "what a snapshot lacks"
    whole=$agent
    for lacks in 'field.name 5 virtual threads that were parked before' 'nothing 4000 some virtual threads that were parked before'; do
        set -- $lacks
        agent=$(dirname "$receiver")/libweft_missing.so
        export WEFT_MISSING=$1
        start_waiting stuck -cp "$classes" StuckVirtual $2
        listen
        attach endpoint=unix://"$sock" pool=256m exit-wait=60s || bad "attach: $(cat "$work/report")"
        unset WEFT_MISSING
        shift 2
        grep -q "^\(Warning: \)\?$* appear when they next run: " "$work/report" || bad "attach printed $(cat "$work/report")"
        detach
        heard_some
        commanded free
        echo end >&9
        exec 9>&-
        wait $runner || bad "the JVM exited with $?"
    done
    agent=$whole
}

# HotSpot shows what it passed to agents; credentials are not among that.
concealed() {
    section "credentials of an attach"
    start_waiting stuck -cp "$classes" Stuck
    attach endpoint=tcp://localhost:1 headers=authorization=Bearer%20Tell-Nobody exit-wait=0s || bad "attach: $(cat "$work/report")"
    "$home/bin/jcmd" "$jvm" VM.info >"$work/info" 2>&1
    grep -q "$agent" "$work/info" || bad "VM.info: $(head -3 "$work/info")"
    "$home/bin/jcmd" "$jvm" JFR.start >"$work/jcmd" 2>&1
    "$home/bin/jcmd" "$jvm" JFR.dump filename="$work/x.jfr" >>"$work/jcmd" 2>&1
    [ -s "$work/x.jfr" ] || bad "JFR.dump: $(cat "$work/jcmd")"
    attach depth=3
    grep -q '^  depth=3$' "$work/report" || bad "the second attach printed $(cat "$work/report")"
    for place in info x.jfr report out err; do
        grep -q Tell-Nobody "$work/$place" && bad "they are in $place"
    done
    detach
    echo end >&9
    exec 9>&-
    wait $runner || bad "the JVM exited with $?"
}

# Attach prints where events go, or why they do not.
reported_connection() {
    section "attach prints where events go"
    start_waiting stuck -cp "$classes" Stuck
    rm -f "$sock"
    attach endpoint=unix://"$sock" exit-wait=60s || bad "attach: $(cat "$work/report")"
    prints "Not connected to unix://$sock: No such file or directory; "
    listen
    prints "Connected to unix://$sock\$"
    detach
    grep -qx 'The agent is stopped.' "$work/report" || bad "detach printed $(cat "$work/report")"
    heard_some
    echo end >&9
    exec 9>&-
    wait $runner || bad "the JVM exited with $?"
}

prints() { # pattern; repeats attach until it matches
    for i in $(seq 600); do
        grep -q "^$1" "$work/report" && return
        sleep 0.1
        attach
    done
    bad "attach printed $(head -1 "$work/report"), not $1"
}

# An attach in aggregated mode sends no events, not even from a snapshot.
summed() {
    section "attach, sums only"
    start_waiting stuck -cp "$classes" Stuck
    listen
    attach endpoint=unix://"$sock" exit-wait=60s mode=aggregated || bad "attach: $(cat "$work/report")"
    commanded free
    detach
    heard
    expect events 0
    [ "$(value aggregates)" -gt 0 ] || bad "no sums"
    echo end >&9
    exec 9>&-
    wait $runner || bad "the JVM exited with $?"
}

# A native thread detaches from the JVM and attaches again as another thread while there is no session.
returned() {
    section "native thread attached again"
    start_waiting ready -Xcheck:jni -cp "$classes" Native "$(dirname "$receiver")/libnative_threads.so"
    for round in 1 2; do
        listen
        attach endpoint=unix://"$sock" exit-wait=60s || bad "attach: $(cat "$work/report")"
        [ $round = 2 ] || commanded attach
        commanded work
        commanded leave
        detach
        heard
        expect worker.sleepStart 1
        expect worker.sleepEnd 1
        expect worker.threadEnd 1
        [ $round = 2 ] || commanded attach # no session: its start is not reported
    done
    echo end >&9
    exec 9>&-
    wait $runner || bad "the JVM exited with $?"
    grep -v '^WARNING: ' "$work/err" | grep . && bad "something on standard error"
}

# A snapshot may find a thread that is being attached and has no ID yet. None comes during the first attach: there JDK 21 and later
# may crash (see the limits in README.md).
arriving() {
    section "native threads attached during snapshots"
    start_waiting ready -Xcheck:jni -cp "$classes" Native "$(dirname "$receiver")/libnative_threads.so"
    for round in $(seq 50); do
        [ "$round" != 2 ] || commanded "come and go"
        listen
        attach endpoint=unix://"$sock" pool=256m exit-wait=60s || bad "attach: $(cat "$work/report")"
        detach
        heard
    done
    commanded calm
    echo end >&9
    exec 9>&-
    wait $runner || bad "the JVM exited with $?"
}

commanded() { # command; waits for the answer
    before=$(wc -l <"$work/out")
    echo "$1" >&9
    until [ "$(wc -l <"$work/out")" -gt "$before" ] || ! kill -0 $runner; do sleep 0.05; done
}
