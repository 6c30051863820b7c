# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# A section of jvmtest.sh: threads that wait until another one has initialized a class.

# Waits until as many events of a kind are seen at the initialization of a class.
await_class() { # kind, class, count
    until [ "$(grep -c " $1 Initializing\$$2.<clinit> " "$work/seen")" -ge "$3" ] || ! kill -0 $runner; do sleep 0.05; done
}

initializing() { # flags
    [ "$major" -lt 17 ] && return # the JVM does not report the class
    section "initializing $*"
    listen events=1
    start_waiting ready -agentpath:"$agent=endpoint=unix://$sock,service=jvmtest$room" "$@" -cp "$classes" Initializing
    await_class contendedEnter Slow 4
    echo go >&9
    await_class contendedEntered Slow 4
    await_class contendedEnter Left 1
    await_class contendedEnter Right 1
    exec 9>&-
    wait $runner || bad "the JVM exited with $?: $(head -3 "$work/err")"
    heard
    grep . "$work/err" && bad "something on standard error"
    for check in 'waiter contendedEnter Initializing$Slow 4' 'waiter contendedEntered Initializing$Slow 4' \
        'left contendedEnter Initializing$Right 1' 'right contendedEnter Initializing$Left 1'; do
        count=$(grep -c " ${check% *}.<clinit> " "$work/seen")
        [ "$count" = "${check##* }" ] || bad "$count ${check% *}"
    done
}
