# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Sections of jvmtest.sh: the agent loads and initializes no classes of its own accord.

# The classes in logs of the JVM: "loaded" or "initialized" and the name, without the address in those of lambdas.
classes_in() { # files
    sed -n "s/.*\] \([^ ]*\) source: .*/loaded \1/p; s/.*Initializing '\([^']*\)'.*/initialized \1/p" "$@" |
        sed 's/+*0x[0-9a-f]*//; s,/$,,' | tr / . | sort -u
}

logged=-Xlog:class+load,class+init:file

# Fails if a class was added to the known ones, except for the agent's own, which has no initializer.
nothing_added() {
    comm -13 "$work/known" "$work/classes" >"$work/added"
    grep -qx 'initialized java.lang.ThreadProbe' "$work/added" || bad "the log lacks the agent's own class"
    grep -v ' java.lang.ThreadProbe$' "$work/added" >"$work/unwanted" &&
        bad "$(wc -l <"$work/unwanted") classes: $(head -5 "$work/unwanted" | tr '\n' ';')"
}

# An agent that is loaded with the JVM.
started() { # what Started does
    section "start $*"
    for i in 1 2 3; do # which classes the JVM's own threads load may depend on the time
        "$java" "$logged=$work/plain$i.log" -cp "$classes" Started "$@" >/dev/null
    done
    classes_in "$work"/plain?.log >"$work/known"
    listen
    more=,mounts=on
    early=-XX:+DisableAttachMechanism # a weft list of another test would add a thread
    traced "$logged=$work/agent.log" Started "$@"
    more='' early=''
    [ $code = 0 ] || bad "code $code: $(head -3 "$work/err")"
    heard
    [ $# = 0 ] || [ "$(value unmount)" != 0 ] || bad "no virtual thread was seen"
    classes_in "$work/agent.log" >"$work/classes"
    nothing_added
}

# One that is attached later. The program waits at no monitor, so the management interface is not needed.
attached_quietly() {
    section "classes of an attach"
    start_waiting ready "$logged=$work/agent.log" -cp "$classes" Started wait
    # What the JVM itself needs to load any agent; this library is none.
    timeout $patience "$weft" attach --timeout ${patience}s --agent "$(dirname "$receiver")/libnative_threads.so" $jvm >/dev/null 2>&1
    classes_in "$work/agent.log" >"$work/known"
    listen
    attach endpoint=unix://"$sock" exit-wait=60s || bad "attach: $(cat "$work/report")"
    classes_in "$work/agent.log" >"$work/classes"
    echo end >&9
    exec 9>&-
    wait $runner || bad "the JVM exited with $?"
    heard
    nothing_added
}

# The first unmount of a virtual thread is that of a thread older than the agent.
older_virtual() {
    section "a virtual thread older than the agent"
    start_waiting ready "$@" -cp "$classes" Started later
    listen
    attach endpoint=unix://"$sock" exit-wait=60s || bad "attach: $(cat "$work/report")"
    commanded ''
    detach
    heard
    # Before 24 virtual threads park a few times more than the program requests.
    [ "$(count_of 'Started$Parked.park')" -ge 100 ] || bad "$(count_of 'Started$Parked.park') parks"
    [ "$major" -lt 24 ] || expect 'Started$Parked.park' 100
    echo end >&9
    exec 9>&-
    wait $runner || bad "the JVM exited with $?"
}

quiet() {
    started
    attached_quietly
    [ "$major" -ge 21 ] || return
    started virtual
    older_virtual -Xcheck:jni
}
