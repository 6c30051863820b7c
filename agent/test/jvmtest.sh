#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Does the agent tell the truth about real JVMs, and leave them alone? Arguments: the agent, the fake
# receiver, the folder of the compiled programs, then the homes of the JDKs to try.
set -u
agent=$1 receiver=$2 classes=$3
shift 3
checked=$(dirname "$receiver")/libweft_check.so # the agent that asks JVMTI for each stack again
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sock=$work/weft.sock
weft=$(dirname "$agent")/weft # the program, built beside the agent
failed=0
java=
more= # options of the agent

bad() {
    echo "     not so: $*"
    failed=$((failed + 1))
    echo "$version, $section: $*" >>"$work/failures"
}

# Says what comes next.
section() {
    section=$*
    echo "   $*"
}

listen() { # arguments of the receiver
    rm -f "$sock"
    "$receiver" "$sock" "$@" >"$work/seen" &
    receiver_pid=$!
    while [ ! -S "$sock" ]; do sleep 0.02; done
}

# Room for every event that comes while the sender has no processor: what is lost without it is a matter of the machine's
# load, not of the agent. Sections that are about losses say how much room there is.
room=,pool=64m

# Runs a program under the agent against the receiver; output and code go to out, err, code.
traced() {
    timeout 600 "$java" -agentpath:"$agent=endpoint=unix://$sock,service=jvmtest$room$more" -cp "$classes" "$@" >"$work/out" 2>"$work/err"
    code=$?
}

heard() {
    for i in $(seq 600); do
        kill -0 $receiver_pid 2>/dev/null || break
        sleep 0.05
    done
    kill $receiver_pid 2>/dev/null
    wait $receiver_pid
    grep -q '^problem none$' "$work/seen" || bad "$(grep '^problem' "$work/seen")"
    grep -q '^end 1$' "$work/seen" || bad "no end frame"
    [ "$(value lost)" = 0 ] || bad "lost $(value lost)"
}

value() {
    found=$(sed -n "s/^$1 //p" "$work/seen" | awk '{ sum += $1 } END { print sum + 0 }')
    echo "${found:-0}"
}

expect() { # name, count
    name=$(echo "$1" | sed 's/[.$]/\\&/g')
    grep -q '^problem none$' "$work/seen" || return # nothing that was counted means anything
    [ "$(value "$name")" = "$2" ] || bad "$1 is $(value "$name"), not $2"
}

counts() {
    section "counts $*"
    listen
    traced "$@" Counts
    [ $code = 0 ] || bad "code $code: $(head -3 "$work/err")"
    [ "$(cat "$work/out")" = counted ] || bad "output: $(head -3 "$work/out")"
    heard
    expect 'Counts$Notified.notify' 300000
    expect 'Counts$Notified.notifyAll' 50000
    expect 'Counts$Handed.contendedEnter' 40
    expect 'Counts$Handed.contendedEntered' 40
    expect 'Counts$Handed.owned' 40
    expect 'Counts$Joined.joinStart' 20
    expect 'Counts$Joined.waited' 20
    expect 'Counts$Joined.joinEnd' 20
    expect 'Counts$Joined.interrupted' 1
    expect 'Counts$Timed.wait' 50
    expect 'Counts$Timed.waited' 50
    expect 'Counts$Timed.timedOut' 50
    expect 'Counts$Timed.waitReturned' 50
    expect 'Counts$Broken.wait' 10
    expect 'Counts$Broken.waitReturned' 10
    expect 'Counts$Broken.interrupted' 10
    expect 'Counts$Awaited.wait' 100
    expect 'Counts$Awaited.waitReturned' 100
    expect 'Counts$Awaited.notify' 100
    expect worker.startCalled 65
    expect worker.threadStart 65
    expect worker.threadEnd 65
    expect sleepStart 105
    expect sleepEnd 105
    expect interruptCalled 16
}

# Before each wait of a platform thread what it has used of a processor; and where the owners were, so often as that is asked.
details() {
    more=,cpu=on,owner-stacks=on
    counts "$@"
    more=
    waits=0
    for kind in contendedEnter wait joinStart sleepStart park; do waits=$((waits + $(value $kind))); done
    expect cpu $waits
    [ "$(value ownerStack)" -gt 0 ] || bad "no stack of an owner"
}

# A lock that main held has an owner; a semaphore, a latch and a condition have none.
parks() {
    section "parks $*"
    listen
    traced "$@" Parks
    more=
    [ $code = 0 ] || bad "code $code: $(head -3 "$work/err")"
    [ "$(cat "$work/out")" = parked ] || bad "output: $(head -3 "$work/out")"
    heard
    expect 'Parks$Permit.park' 200000
    expect 'Parks$Owned.park' 1000
    expect 'Parks$Owned.owned' 1000
    expect 'Parks$Timed.park' 60
    expect 'Parks$Timed.timed' 60
    expect 'Parks$Direct.park' 100
    expect 'Parks$Direct.timed' 0
    expect 'java.util.concurrent.locks.ReentrantLock$NonfairSync.park' 40
    expect 'java.util.concurrent.locks.ReentrantLock$NonfairSync.owned' 40
    # JDK 11 wakes more threads than there are permits: those park again.
    [ "$major" -ge 17 ] && expect 'java.util.concurrent.Semaphore$NonfairSync.park' 20
    expect 'java.util.concurrent.Semaphore$NonfairSync.owned' 0
    expect 'java.util.concurrent.CountDownLatch$Sync.park' 4
    # JDK 21 waits at conditions itself, where it looks after references.
    [ "$major" = 21 ] || expect 'java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.park' 50
    # 100 with and 20 without a blocker, 50 at conditions, 40 at locks, 24 more; main's are 60
    if [ "$major" -ge 17 ]; then
        expect worker.park 201234
        expect worker.unpark 201234
    fi
    expect worker.unparked "$(value worker.park)"
}

# Each hooked method, called in each way: as often as the program says that it did.
coverage() {
    section "coverage $*"
    listen
    more=,pool=256m,yield=on,depth=4,park-depth=0
    traced "$@"
    more=
    [ $code = 0 ] || bad "code $code: $(head -3 "$work/err")"
    grep -q '^worker.notify\|notify ' "$work/out" || bad "output: $(head -3 "$work/out")"
    heard
    while read -r name count; do
        # Until JDK 13 Thread.interrupted is a part of the compiler: no agent sees that a flag is consumed.
        [ "$name" = worker.interrupted ] && [ "$major" -lt 14 ] && continue
        expect "$name" "$count"
    done <"$work/out"
    [ "$(value threads)" -lt 5000 ] || bad "$(value threads) definitions of threads"
}

# Without parks there is nothing of them, and all the rest.
unseen() {
    section "park=off"
    listen
    more=,park=off
    traced Parks
    more=
    heard
    expect park 0
    expect unparked 0
    expect unpark 0
    expect worker.threadEnd 68
}

# The same output and exit code as without the agent.
same() {
    section "same $*"
    "$java" -cp "$classes" "$@" >"$work/plain.out" 2>"$work/plain.err"
    plain=$?
    listen
    traced "$@"
    [ $code = $plain ] || bad "code $code, without the agent $plain"
    cmp -s "$work/out" "$work/plain.out" || bad "other output: $(diff "$work/out" "$work/plain.out" | head -3)"
    cmp -s "$work/err" "$work/plain.err" || bad "other errors: $(diff "$work/err" "$work/plain.err" | head -3)"
    heard
}

terminated() {
    section "SIGTERM"
    listen
    "$java" -agentpath:"$agent=endpoint=unix://$sock$room" -cp "$classes" Ways term >"$work/out" 2>"$work/err" &
    pid=$!
    until grep -q ready "$work/out"; do sleep 0.05; done
    kill -TERM $pid
    wait $pid
    code=$?
    [ $code = 143 ] || bad "code $code"
    heard
}

# No receiver, one that is killed, one that cuts: the program does not notice.
lonely() {
    section "no receiver"
    rm -f "$sock"
    traced Ways exit
    [ $code = 3 ] || bad "code $code"
    [ "$(cat "$work/err")" = "also done" ] || bad "errors: $(cat "$work/err")"
    section "killed receiver"
    listen
    "$java" -agentpath:"$agent=endpoint=unix://$sock$room" -cp "$classes" Ways exit 5000 >"$work/out" 2>"$work/err" &
    pid=$!
    sleep 0.5
    kill -9 $receiver_pid || bad 'the receiver ended too early'
    wait $receiver_pid 2>/dev/null
    wait $pid
    code=$?
    [ $code = 3 ] || bad "code $code"
    [ "$(cat "$work/out")" = "done 400000" ] || bad "output: $(cat "$work/out")"
    section "cut connections"
    listen cut=7
    traced Ways return 5000
    [ $code = 0 ] || bad "code $code"
    heard
    [ "$(value connections)" -gt 1 ] || bad "never cut"
}

options() {
    section "wrong option"
    "$java" -agentpath:"$agent=endpiont=x" -cp "$classes" Ways exit >"$work/out" 2>"$work/err"
    [ $? = 3 ] || bad "code"
    head -1 "$work/err" | grep -q '^weft: option "endpiont": unknown option; known are endpoint, ' || bad "$(head -1 "$work/err")"
    [ "$(wc -l <"$work/err")" = 2 ] || bad "more than one line: $(cat "$work/err")"
}

churn() {
    section "20000 threads"
    listen
    traced Churn 20000
    heard
    expect worker.threadStart 20000
    expect worker.threadEnd 20000
    expect worker.startCalled 20000
}

# The same waits, added up: no event, and no wait more or less.
sums() {
    section "sums $*"
    listen
    more=,mode=aggregated,interval=200ms
    traced "$@" Counts
    [ "$(cat "$work/out")" = counted ] || bad "output: $(head -3 "$work/out")"
    heard
    expect events 0
    expect overflow 0
    expect 'Counts$Handed.sum.contendedEnter' 40
    expect 'Counts$Joined.sum.joinStart' 20
    expect 'Counts$Joined.sum.waited' 20
    expect 'Counts$Timed.sum.wait' 50
    expect 'Counts$Timed.sum.waited' 50
    expect sum.wait 160
    expect sum.sleepStart 105
    listen
    traced "$@" Parks
    more=
    heard
    expect events 0
    expect 'Parks$Owned.sum.park' 1000
    expect 'Parks$Timed.sum.park' 60
    expect 'java.util.concurrent.locks.ReentrantLock$NonfairSync.sum.park' 40
    [ "$(value sum.park)" -ge 201234 ] || bad "sum.park is $(value sum.park)" # and those of main
}

# Each stack that is recognized is the one that JVMTI tells.
stacks() {
    section "stacks $*"
    listen
    plain=$agent
    agent=$checked
    more=,notify-depth=16,unpark-depth=5,wait-depth=16
    traced "$@" Stacks
    more=
    agent=$plain
    [ "$(cat "$work/out")" = done ] || bad "output: $(head -3 "$work/out")"
    grep -q '^stacks: [0-9]* taken, [0-9]* walked, 0 not, 0 wrong, kept$' "$work/err" || bad "$(grep '^stacks' "$work/err")"
    heard
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
    expect notify 10000
    expect 'java.util.concurrent.ForkJoinPool.park' 0 # what carriers wait at
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

# A JVM whose threads are stuck before anybody attaches: what they wait for is found, what they do then is
# counted, other options are taken or refused, and a detached agent can be attached again.
attached() {
    [ -x "$weft" ] || { bad "there is no $weft"; return; }
    section "attach $*"
    mkfifo "$work/commands"
    "$java" "$@" -cp "$classes" Stuck <"$work/commands" >"$work/out" 2>"$work/err" &
    jvm=$!
    exec 9>"$work/commands"
    rm "$work/commands"
    for i in $(seq 4000); do grep -q stuck "$work/out" && break; sleep 0.05; done
    for round in 1 2; do
        listen
        timeout 300 "$weft" attach --agent "$agent" $jvm endpoint=unix://"$sock" service=jvmtest pool=64m >"$work/told" 2>&1 ||
            bad "attach: $(cat "$work/told")"
        grep -q '^depth=16$' "$work/told" || bad "attach says $(head -3 "$work/told")"
        if [ $round = 1 ]; then
            commanded 'work 100000'
            timeout 300 "$weft" attach --agent "$agent" $jvm depth=3 notify=off >"$work/told" 2>&1
            grep -q '^notify=off$' "$work/told" || bad "attach again says $(cat "$work/told")"
            commanded 'work 1000' # not seen
            timeout 300 "$weft" attach --agent "$agent" $jvm notify=on dept=3 >"$work/told" 2>&1 && bad "a wrong option is taken"
            grep -q 'option "dept": unknown option' "$work/told" || bad "the error says $(cat "$work/told")"
            timeout 300 "$weft" attach --agent "$agent" $jvm notify=on >"$work/told" 2>&1
        else
            commanded 'work 20000'
            commanded free
        fi
        timeout 300 "$weft" detach --agent "$agent" $jvm >"$work/told" 2>&1 || bad "detach: $(cat "$work/told")"
        commanded 'work 1000' # not seen
        for i in $(seq 600); do kill -0 $receiver_pid 2>/dev/null || break; sleep 0.05; done
        kill $receiver_pid 2>/dev/null
        wait $receiver_pid
        grep -q '^problem none$' "$work/seen" || bad "$(grep '^problem' "$work/seen")"
        grep -q '^end 1$' "$work/seen" || bad "no end frame"
        [ "$(value lost)" = 0 ] || bad "lost $(value lost)"
        expect 'Stuck$Worked.notify' $((round == 1 ? 100000 : 20000))
        expect 'Stuck$Left.contendedEnter' 1
        expect 'Stuck$Left.owned' 1
        expect 'Stuck$Right.contendedEnter' 1
        expect 'Stuck$Right.owned' 1
        expect 'Stuck$Held.contendedEnter' 1
        expect 'Stuck$Held.contendedEntered' $((round - 1))
        expect 'Stuck$Awaited.wait' 1
        expect 'java.util.concurrent.CountDownLatch$Sync.park' 1
        expect 'java.util.concurrent.locks.ReentrantLock$NonfairSync.owned' 1
    done
    echo end >&9
    exec 9>&-
    wait $jvm || bad "the JVM ends with $?"
    [ "$(tr '\n' ' ' <"$work/out")" = "stuck worked worked worked worked free worked " ] || bad "output: $(cat "$work/out")"
    grep -v '^WARNING: ' "$work/err" && bad "something on standard error"
}

# An attach that asks for sums gets no events, not even of what was found.
summed() {
    section "attach, sums only"
    mkfifo "$work/commands"
    "$java" -cp "$classes" Stuck <"$work/commands" >"$work/out" 2>"$work/err" &
    jvm=$!
    exec 9>"$work/commands"
    rm "$work/commands"
    for i in $(seq 4000); do grep -q stuck "$work/out" && break; sleep 0.05; done
    listen
    timeout 300 "$weft" attach --agent "$agent" $jvm endpoint=unix://"$sock" mode=aggregated >"$work/told" 2>&1 ||
        bad "attach: $(cat "$work/told")"
    commanded free
    timeout 300 "$weft" detach --agent "$agent" $jvm >"$work/told" 2>&1 || bad "detach: $(cat "$work/told")"
    heard
    expect events 0
    [ "$(value aggregates)" -gt 0 ] || bad "no sums"
    echo end >&9
    exec 9>&-
    wait $jvm || bad "the JVM ends with $?"
}

commanded() { # command; waits for the answer
    before=$(wc -l <"$work/out")
    echo "$1" >&9
    for i in $(seq 4000); do [ "$(wc -l <"$work/out")" -gt "$before" ] && break; sleep 0.05; done
}

# Without a collector: what is in the file and what it says is missing is all that happened.
recorded() {
    section "file"
    more=
    "$java" -agentpath:"$agent=file=$work/a.weft,pool=64m" -cp "$classes" Counts >"$work/out" 2>"$work/err" || bad "code"
    [ "$(head -c 4 "$work/a.weft")" = WEFT ] || bad "no recording"
    "$java" -agentpath:"$agent=file=$work/b.weft,file-size=1m,pool=64m" -cp "$classes" Counts >"$work/out" 2>"$work/err" || bad "code"
    [ "$(wc -c <"$work/b.weft")" -le 1048576 ] || bad "too large"
    echo mine >"$work/c"
    "$java" -agentpath:"$agent=file=$work/c" -cp "$classes" Ways exit >"$work/out" 2>"$work/err"
    [ "$(cat "$work/c")" = mine ] || bad "another file was replaced"
    head -1 "$work/err" | grep -q '^weft: option "file": ' || bad "$(head -1 "$work/err")"
}

for part in "$(dirname "$0")"/jvm/*.sh; do . "$part"; done

for home in "$@"; do
    java=$home/bin/java
    version=$("$java" -version 2>&1 | head -1)
    echo "$version"
    major=$("$java" -version 2>&1 | sed -n '1s/[^"]*"\([0-9]*\).*/\1/p')
    counts -Xcheck:jni
    if [ ! -x "$home/bin/javac" ]; then # a runtime of another version: what could differ there
        details -Xcheck:jni
        parks -Xcheck:jni
        calls=20000
        [ -x "$java.aarch64" ] && calls=1000 # it is emulated
        coverage -Xcheck:jni Coverage $calls
        same Ways exit
        same -XX:+UseSerialGC -Xmx64m Ways return
        virtual
        continue
    fi
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
    unseen
    sums
    sums -Xcheck:jni
    sums -Xcomp
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
    terminated
    lonely
    options
    attached -Xcheck:jni
    summed
    recorded
    churn
    many 5000 platform 24
    virtual
done
[ $failed = 0 ] && echo "ok   jvmtest" || { echo "FAIL jvmtest: $failed" && cat "$work/failures"; }
[ $failed = 0 ]
