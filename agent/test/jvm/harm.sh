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

options() {
    section "invalid option"
    "$java" -agentpath:"$agent=endpiont=x" -cp "$classes" Ways exit >"$work/out" 2>"$work/err"
    [ $? = 3 ] || bad "code"
    head -1 "$work/err" | grep -q '^weft: option "endpiont": unknown option; want one of endpoint, ' || bad "$(head -1 "$work/err")"
    head -1 "$work/err" | grep -q '; the JVM runs without tracing$' || bad "$(head -1 "$work/err")"
    [ "$(wc -l <"$work/err")" = 2 ] || bad "more than one line: $(cat "$work/err")"
}
