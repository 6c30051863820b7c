# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Sections of jvmtest.sh: filters, minimum duration and mode leave out what they should, and nothing else.

count_of() { # name
    value "$(echo "$1" | sed 's/[.$]/\\&/g')"
}

between() { # name, least, most
    found=$(count_of "$1")
    [ "$found" -ge "$2" ] && [ "$found" -le "$3" ] || bad "$1 is $found, want $2 to $3"
}

# Short waits are suppressed; long waits and deadlocks are sent. Once with a large pool, once with a tiny one.
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
    [ "$lost" -gt 0 ] || bad "nothing was lost, so this tests nothing"
    set -- $(grep '^happened' "$work/out")
    [ $((sent + lost)) -ge "$2" ] && [ $((sent + lost)) -le "$3" ] ||
        bad "$sent sent and $lost lost, want $2 to $3 in total"
}

filters() {
    section "included threads, excluded locks"
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
    section "excluded threads, included locks"
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

# The mode changes by control frames while threads wait: each wait is sent as an event or in a sum, never both or neither.
# The receiver changes the mode once it has seen each kind of wait in the current one.
modes() {
    section "mode changes"
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
        events=$(($(count_of "$class.$kind") - $(count_of "$class.found.$kind"))) # waits in a snapshot go into a sum when they end
        sums=$(count_of "$class.sum.$kind")
        [ $((events + sums)) = "$count" ] || bad "$class.$kind: $events events and $sums in sums, want $count in total"
        [ "$events" -gt 0 ] && [ "$sums" -gt 0 ] || bad "$class.$kind: $events events, $sums in sums: one mode has none"
    done <"$work/out"
    [ "$(wc -l <"$work/out")" -ge 3 ] || bad "output: $(head -3 "$work/out")"
}
