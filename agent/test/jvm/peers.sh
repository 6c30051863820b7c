# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Sections of jvmtest.sh: hostile processes in the receiver's place, or with the agent's session.

# Another user listens where the agent connects: it learns nothing, and the JVM says so in one line.
squatted() {
    section "socket of another user"
    if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null; then
        echo "     $major: SKIPPED: needs root and setpriv"
        return
    fi
    mkdir -p "$work/open"
    chmod 755 "$work"
    chmod 1777 "$work/open"
    for how in endpoint default; do
        squat=$work/open/weft.sock
        rm -f "$squat"
        setpriv --reuid=4711 --regid=4711 --clear-groups "$receiver" "$squat" >"$work/seen" &
        receiver_pid=$!
        while [ ! -S "$squat" ] && kill -0 $receiver_pid; do sleep 0.02; done
        at=endpoint=unix://$squat,
        [ $how = default ] && at=
        XDG_RUNTIME_DIR=$work/open timeout $patience "$java" -agentpath:"$agent=${at}exit-wait=5s" -cp "$classes" Ways exit 2000 >"$work/out" 2>"$work/err"
        code=$?
        kill $receiver_pid
        wait $receiver_pid
        [ $code = 3 ] || bad "code $code"
        [ "$(grep -c "^weft: not connected to .*unix://$squat.*: user 4711 (process $receiver_pid) listens there, .*; nothing is sent; .*peer-user=4711; " "$work/err")" = 1 ] ||
            bad "$how: errors: $(cat "$work/err")"
        [ "$(wc -l <"$work/err")" = 2 ] || bad "$how: more than one line: $(cat "$work/err")"
        grep -q '^service $' "$work/seen" && [ "$(value definitions)" = 0 ] || bad "$how: it heard $(cat "$work/seen")"
    done
    section "trusted user"
    rm -f "$squat"
    setpriv --reuid=4711 --regid=4711 --clear-groups "$receiver" "$squat" >"$work/seen" &
    receiver_pid=$!
    while [ ! -S "$squat" ] && kill -0 $receiver_pid; do sleep 0.02; done
    sock=$squat
    more=,peer-user=4711
    traced Ways exit
    [ $code = 3 ] || bad "code $code"
    [ "$(cat "$work/err")" = "also done" ] || bad "errors: $(cat "$work/err")"
    heard
    more=
    sock=$work/weft.sock
}

# Somebody has sent more of the session than the agent: it goes on under another identity, with all that was not acknowledged.
silenced() {
    section "session of somebody else"
    listen leave=1 ahead=3
    traced Ways return 5000
    [ $code = 0 ] || bad "code $code"
    [ "$(cat "$work/out")" = "done 400000" ] || bad "output: $(cat "$work/out")"
    heard
    expect sessions 2
    expect ownInstance 1
    [ "$(value events)" -gt 0 ] || bad "nothing was sent"
}
