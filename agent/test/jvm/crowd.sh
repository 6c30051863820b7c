# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Sections of jvmtest.sh: virtual=exact with many threads, lost events, bad receivers, and other agents that change the
# same class. CROWD=1000000 ATTACHES=100 make jvmtest is the long form.

crowd=${CROWD:-50000}

# Two carriers, so that the events of carriers are few. Otherwise, only those of virtual threads and of the one that drives
# them are recorded.
few="-Xmx64m -Xms64m -XX:+AlwaysPreTouch -Djdk.virtualThreadScheduler.parallelism=2 -Djdk.virtualThreadScheduler.maxPoolSize=2"
verified="-XX:+UnlockDiagnosticVMOptions -XX:+BytecodeVerificationLocal"
driven=,virtual=exact,include-threads=driver

# The output of the program; lines of other agents may follow.
has_crowd() { # threads
    [ $code = 0 ] || bad "code $code: $(head -3 "$work/err")"
    grep -q "^crowd threads=$1 " "$work/out" || bad "output: $(head -3 "$work/out")"
    [ -s "$work/err" ] && bad "errors: $(head -3 "$work/err")"
}

# Each thread is started, mounted, parked, unparked, mounted again, and ends: ten events. The driver starts and ends, and
# starts a few carriers. A thread that is asked for its state may hold a lock of the JDK for a moment: a few events more.
as_driven() { # threads
    for kind in park unparked; do expect $kind "$1"; done
    expect unpark "$1"
    expect threadEnd $(($1 + 1))
    expect threadStart $(($1 + 1 + $(value carrier.threadStart)))
    started=$(($(value startCalled) - $1))
    [ $started -ge 0 ] && [ $started -le 4 ] || bad "startCalled is $(value startCalled)"
    expect unmount "$(value mount)"
    is_complete "$1"
}

# Sent and lost events together are those that happened.
is_complete() { # threads
    beyond=$(($(value events) + $(value lost) - 10 * $1))
    [ $beyond -ge 4 ] && [ $beyond -le 40 ] || bad "$beyond events more than ten of each of $1 threads"
}

drive() { # threads, flags
    driven_threads=$1
    shift
    more=$driven
    traced $few "$@" Crowd "$driven_threads"
    more=
    has_crowd "$driven_threads"
}

crowded() { # flags
    section "exact: $crowd virtual threads $*"
    listen
    room=,pool=1g,exit-wait=60s # a million threads make more events than the receiver takes meanwhile
    drive "$crowd" "$@"
    room=$roomy
    heard
    as_driven "$crowd"
}

# A receiver that is too slow, and little memory: most events are lost, and each is counted. Memory is bounded: about 90 MiB
# for a million threads or more, most of it for names of threads that the receiver does not have yet.
crowd_lost() {
    section "$crowd virtual threads, most events lost"
    alone=$("$java" $few -cp "$classes" Crowd "$crowd" | sed -n 's/.* peak=\([0-9]*\).*/\1/p')
    listen slow=20
    room=,pool=64k,retain=1m,definitions=1m,exit-wait=60s
    drive "$crowd"
    room=$roomy
    heard_some
    [ "$(value lost)" -gt "$crowd" ] || bad "only $(value lost) events are lost"
    is_complete "$crowd"
    peak=$(sed -n 's/^crowd .* peak=\([0-9]*\).*/\1/p' "$work/out")
    [ "$peak" -lt $((alone + 128 * 1024)) ] || bad "$peak KiB, $alone without the agent"
}

# The program ends as without the agent, whatever the receiver does: none is there, it is killed, or it reads nothing.
crowd_alone() {
    section "$crowd virtual threads, no receiver"
    rm -f "$sock"
    room=,pool=64k,retain=1m,exit-wait=500ms
    drive "$crowd"
    section "$crowd virtual threads, killed receiver"
    listen die=3
    drive "$crowd"
    wait $receiver_pid 2>/dev/null
    [ $? = 137 ] || bad 'the receiver was not killed'
    section "$crowd virtual threads, hanging receiver"
    listen
    kill -STOP $receiver_pid
    drive "$crowd"
    kill -KILL $receiver_pid
    wait $receiver_pid 2>/dev/null
    room=$roomy
}

# Another agent changes the class, too. Java agents that start with the JVM come first, whatever the order of the options.
crowd_shared() {
    changes=$((crowd / 25))
    for way in none same redefine; do
        section "$changes virtual threads, and an agent that changes the class: $way"
        for before in yes no; do
            other=-javaagent:$(dirname "$receiver")/transforming.jar=$way
            listen
            if [ $before = yes ]; then
                early=$other
                drive $changes $verified -Xcheck:jni
                early=
            else
                drive $changes $verified -Xcheck:jni "$other"
            fi
            grep -q '^transformed [1-9]' "$work/out" || bad "changes: $(cat "$work/out")"
            heard
            as_driven $changes
        done
    done
}

# An agent that is loaded later gets the changed class. If it puts back what the JDK has, the calls are gone: this agent says
# so, on standard error and to whoever attaches.
crowd_replaced() {
    [ -x "$home/bin/jcmd" ] || return # it loads the other agent
    section "an agent that removes the calls"
    start_waiting begun $few -agentpath:"$agent=file=$work/replaced.weft,virtual=exact$room" -cp "$classes" Crowd 1000 until
    "$home/bin/jcmd" $jvm JVMTI.agent_load "$(dirname "$receiver")/transforming.jar" original >"$work/report" 2>&1
    grep -q '^return code: 0' "$work/report" || bad "jcmd: $(cat "$work/report")"
    removed='not all that wakes virtual threads is recorded: another agent has removed the calls '
    until grep -q "^weft: $removed" "$work/err" || ! kill -0 $runner; do sleep 0.05; done
    attach
    grep -q "^\(Warning: \)\?$removed" "$work/report" || bad "attach printed $(cat "$work/report")"
    exec 9>&-
    wait $runner || bad "the JVM exited with $?: $(head -3 "$work/err")"
    [ "$(grep -vc '^WARNING: ' "$work/err")" = 1 ] || bad "errors: $(cat "$work/err")"
    grep -q '^transformed [1-9]' "$work/out" || bad "changes: $(cat "$work/out")"
}

# Sessions begin and end while threads start, park, are unparked and end. In the end, the methods are as they were.
crowd_attached() { # flags
    attaches=${ATTACHES:-10}
    section "$crowd virtual threads, attached $attaches times $*"
    start_waiting begun -Xcheck:jni $few "$@" -cp "$classes" Crowd "$crowd" until
    called=0
    for round in $(seq $attaches) last; do
        extent=exact
        [ $round = last ] && extent=on
        listen
        attach endpoint=unix://"$sock" pool=256m exit-wait=60s virtual=$extent include-threads=driver || bad "attach: $(cat "$work/report")"
        detach
        heard
        [ $round = last ] || called=$((called + $(value startCalled)))
    done
    [ $called -gt 0 ] || bad "no start was recorded"
    [ "$(value startCalled)" -le 4 ] || bad "the methods still call the agent" # these start carriers
    exec 9>&-
    wait $runner || bad "the JVM exited with $?: $(head -3 "$work/err")"
    grep -q '^crowd threads=' "$work/out" || bad "output: $(head -3 "$work/out")"
    grep -v '^WARNING: ' "$work/err" | grep . && bad "something on standard error"
}
