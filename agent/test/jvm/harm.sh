# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Sections of jvmtest.sh: the program runs as without the agent, whatever happens to the receiver.

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
    rm -f "$work/out" # of a program before
    "$java" -agentpath:"$agent=endpoint=unix://$sock$room" -cp "$classes" Ways term >"$work/out" 2>"$work/err" &
    pid=$!
    until grep -qs ready "$work/out" || ! kill -0 $pid; do sleep 0.05; done
    kill -TERM $pid
    wait $pid
    code=$?
    [ $code = 143 ] || bad "code $code"
    heard
}

# The receiver is missing, is killed, or cuts connections: the program does not notice.
lonely() {
    section "no receiver"
    rm -f "$sock"
    traced Ways exit
    [ $code = 3 ] || bad "code $code"
    [ "$(cat "$work/err")" = "also done" ] || bad "errors: $(cat "$work/err")"
    section "killed receiver"
    listen die=1
    traced Ways exit 5000
    wait $receiver_pid 2>/dev/null
    [ $? = 137 ] || bad 'the receiver was not killed'
    [ $code = 3 ] || bad "code $code"
    [ "$(cat "$work/out")" = "done 400000" ] || bad "output: $(cat "$work/out")"
    section "cut connections"
    listen cut=7
    traced Ways return 5000
    [ $code = 0 ] || bad "code $code"
    heard
    [ "$(value connections)" -gt 1 ] || bad "never cut"
}

# The session ends by itself: early, while the program runs, and as it exits. The program does not notice.
expiring() { # options of the JVM
    section "a session that ends by itself $*"
    early=$*
    for limit in give-up=1ms give-up=100ms duration=1ms duration=100ms duration=250ms duration=300ms duration=350ms duration=400ms; do
        rm -f "$sock"
        [ ${limit%%=*} = duration ] && listen
        more=,$limit
        traced Ways exit
        [ $code = 3 ] || bad "$limit: code $code"
        [ "$(cat "$work/err")" = "also done" ] || bad "$limit: errors: $(cat "$work/err")"
        [ "$(cat "$work/out")" = "done 16000" ] || bad "$limit: output: $(cat "$work/out")"
        [ ${limit%%=*} = duration ] && heard
    done
    more='' early=''
}

# No thread blocks what a fault of its own raises: HotSpot would not report it.
signals() {
    section "signals of the agent's threads"
    listen
    start_waiting stuck -agentpath:"$agent=endpoint=unix://$sock,virtual=exact" -cp "$classes" Stuck
    names='weft-sender weft-calls'
    [ "$major" -lt 21 ] || names="$names weft-carriers"
    for name in $names; do
        until grep -qsx "$name" /proc/$jvm/task/*/comm || ! kill -0 $runner; do sleep 0.05; done
    done
    for status in /proc/$jvm/task/*/status; do
        # Of signals 1 to 32, those of thread.c: 4 to 8, 11 and 31.
        blocked=$(sed -n 's/^SigBlk:.*\(.\{8\}\)$/\1/p' "$status")
        [ $((0x${blocked:-0} & 0x400004f8)) = 0 ] || bad "$(sed -n 's/^Name:.//p' "$status") blocks $blocked"
    done
    echo end >&9
    exec 9>&-
    wait $runner || bad "the JVM exited with $?"
    heard_some
}

options() {
    section "invalid option"
    "$java" -agentpath:"$agent=endpiont=x" -cp "$classes" Ways exit >"$work/out" 2>"$work/err"
    [ $? = 3 ] || bad "code"
    head -1 "$work/err" | grep -q '^weft: option "endpiont": unknown option; want one of endpoint, ' || bad "$(head -1 "$work/err")"
    head -1 "$work/err" | grep -q '; the JVM runs without tracing$' || bad "$(head -1 "$work/err")"
    [ "$(wc -l <"$work/err")" = 2 ] || bad "more than one line: $(cat "$work/err")"
}
