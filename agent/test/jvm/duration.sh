# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Is what is left out what was asked for, and nothing else? Sections of jvmtest.sh.

told() { # name
    value "$(echo "$1" | sed 's/[.$]/\\&/g')"
}

between() { # name, least, most
    found=$(told "$1")
    [ "$found" -ge "$2" ] && [ "$found" -le "$3" ] || bad "$1 is $found, not $2 to $3"
}

# What is too short is not told, what lasts is, a deadlock too. Once with room for all, once with next to none.
durations() {
    section "minimum duration"
    listen
    more=,min-duration=500ms
    traced Durations 500
    [ $code = 0 ] || bad "code $code: $(head -3 "$work/err")"
    heard
    while read -r name least most; do
        [ "$name" = happened ] || between "$name" "$least" "$most"
    done <"$work/out"
    [ "$(value sleepStart)" -lt 20 ] || bad "$(value sleepStart) sleeps"

    section "minimum duration, small pool"
    listen slow=20
    more=,min-duration=500ms,pool=64k,retain=1m
    traced Durations 500
    more=
    [ $code = 0 ] || bad "code $code: $(head -3 "$work/err")"
    heard_some
    sent=0
    for kind in threadStart threadEnd wait waited waitReturned park unparked sleepStart sleepEnd notify; do
        sent=$((sent + $(value worker.$kind)))
    done
    lost=$(value worker.lost)
    [ "$lost" -gt 0 ] || bad "nothing was lost, so nothing is tested"
    set -- $(grep '^happened' "$work/out")
    [ $((sent + lost)) -ge "$2" ] && [ $((sent + lost)) -le "$3" ] ||
        bad "$sent sent and $lost lost are not the $2 to $3 that happened"
}

filters() {
    section "threads that are included, locks that are excluded"
    filtered 'include-threads=worker-*,exclude-locks=Counts$H*|Counts$A?aited'
    expect 'Counts$Notified.notify' 0 # by main
    expect 'Counts$Timed.wait' 0
    expect 'Counts$Handed.contendedEnter' 0
    expect 'Counts$Handed.contendedEntered' 0
    expect 'Counts$Awaited.wait' 0
    expect 'Counts$Awaited.waitReturned' 0
    expect sleepStart 100
    expect sleepEnd 100
    expect worker.threadStart 65
    expect worker.threadEnd 65
    expect threadStart 65
    section "threads that are excluded, locks that are included"
    filtered 'exclude-threads=worker-20?|worker-30*,include-locks=Counts$Awaited|Counts$Handed|Counts$Timed'
    expect 'Counts$Notified.notify' 0
    expect 'Counts$Timed.wait' 50
    expect 'Counts$Timed.waitReturned' 50
    expect 'Counts$Broken.wait' 0
    expect 'Counts$Joined.joinStart' 0
    expect 'Counts$Handed.contendedEnter' 40
    expect 'Counts$Handed.contendedEntered' 40
    expect 'Counts$Awaited.wait' 0 # by worker-200
    expect 'Counts$Awaited.notify' 100
    expect worker.threadStart 60
    expect worker.threadEnd 60
}

filtered() { # options
    listen
    more=,$1
    traced Counts
    more=
    [ "$(cat "$work/out")" = counted ] || bad "output: $(head -3 "$work/out")"
    heard
}

# The mode changes by control frames while threads wait: each wait is told as an event or in a sum, never both or neither.
modes() {
    section "modes in turn"
    listen
    more=,interval=100ms
    { traced Modes; [ $code = 0 ]; } &
    tracing=$!
    for i in $(seq 600); do
        kill -0 $tracing 2>/dev/null || break
        kill -USR1 $receiver_pid 2>/dev/null
        sleep 0.05
        kill -USR2 $receiver_pid 2>/dev/null
        sleep 0.05
    done
    wait $tracing || bad "code $?"
    heard
    [ "$(value answers)" -ge 6 ] || bad "$(value answers) answers to controls"
    for pair in 'Modes$Waited wait 4000' 'Modes$Parked park 4000' 'Modes$Handed contendedEnter 400' 'Modes$Virtual park 4000'; do
        # JDK 21 has a few parks more than the program asks for.
        [ "$pair" = 'Modes$Virtual park 4000' ] && [ "$major" -lt 24 ] && continue
        set -- $pair
        events=$(($(told "$1.$2") - $(told "$1.found.$2"))) # a snapshot tells what goes into a sum when it ends
        sums=$(told "$1.sum.$2")
        [ $((events + sums)) = "$3" ] || bad "$1.$2: $events events and $sums in sums are not $3"
        [ "$events" -gt 0 ] && [ "$sums" -gt 0 ] || bad "$1.$2: $events events, $sums in sums: one mode has none"
    done
}
