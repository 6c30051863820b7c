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
    has_counted
    heard
}

# The mode changes by control frames while threads wait: each wait is told as an event or in a sum, never both or neither.
# The receiver changes it when it has seen each kind of wait in the mode that there is.
modes() {
    section "modes in turn"
    kinds='of=Modes$Waited.wait of=Modes$Parked.park of=Modes$Handed.contendedEnter'
    [ "$major" -lt 24 ] || kinds="$kinds of=Modes\$Virtual.park"
    listen turns=8 $kinds
    more=,interval=100ms
    rm -f "$work/out"
    mkfifo "$work/until"
    { traced Modes <"$work/until"; [ $code = 0 ]; } &
    tracing=$!
    exec 9>"$work/until"
    rm "$work/until"
    until grep -q '^turned$' "$work/seen" || ! kill -0 $tracing; do sleep 0.05; done
    exec 9>&-
    wait $tracing || bad "code $?"
    more=
    heard
    expect answers 8
    while read -r class kind count; do
        events=$(($(told "$class.$kind") - $(told "$class.found.$kind"))) # a snapshot tells what goes into a sum when it ends
        sums=$(told "$class.sum.$kind")
        [ $((events + sums)) = "$count" ] || bad "$class.$kind: $events events and $sums in sums are not $count"
        [ "$events" -gt 0 ] && [ "$sums" -gt 0 ] || bad "$class.$kind: $events events, $sums in sums: one mode has none"
    done <"$work/out"
    [ "$(wc -l <"$work/out")" -ge 3 ] || bad "output: $(head -3 "$work/out")"
}
