# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Sections of jvmtest.sh: virtual=exact, which virtual threads keep their carriers for long.

carriers="-Djdk.virtualThreadScheduler.parallelism=2 -Djdk.virtualThreadScheduler.maxPoolSize=2"

# Each event is of the thread's last mount, on that carrier, at an age of 20 ms or more that has doubled since the event before,
# and has a stack, which is not that of another thread.
truthful() {
    awk '
        function doubled(age, k) { for (k = 0; age >= 40000000; k++) age /= 2; return k }
        $3 == "mount" { mount[$2] = $1 " " $5; last[$2] = -1 }
        $3 == "unmount" { mount[$2] = "none" }
        $3 == "running" {
            if (mount[$2] != $6 " " $5) print "another mount: " $0
            if ($7 < 20000000 || doubled($7) <= last[$2]) print "too early: " $0
            last[$2] = doubled($7)
            if (($8 ~ /computeLeft,/ && $2 != "left") || ($8 ~ /computeRight,/ && $2 != "right")) print "another stack: " $0
            if ($8 == "-") print "no stack: " $0
        }
    ' "$work/seen" >"$work/wrong"
    [ -s "$work/wrong" ] && bad "$(wc -l <"$work/wrong") untrue: $(head -2 "$work/wrong")"
}

exactly="endpoint=unix://$sock,service=jvmtest$room,virtual=exact"

# Two threads compute on both carriers until each was seen often enough; others wait. While they compute, by the program's own
# measurement, events have the method that does so. The agent reads the clock after it has taken the stack, so the stack of the
# first of these events may be older than its time and than the computation.
hogs() { # flags
    [ "$major" -lt 21 ] && return
    section "hogs $*"
    listen events=1
    start_waiting ready -agentpath:"$agent=$exactly" $carriers "$@" -cp "$classes" Running
    echo hog >&9
    for hog in 'left running .*computeLeft,' 'right running .*computeRight,'; do
        until [ "$(grep -c " $hog" "$work/seen")" -ge 4 ] || ! kill -0 $runner; do sleep 0.05; done
    done
    echo end >&9
    exec 9>&-
    wait $runner || bad "the JVM exited with $?: $(head -3 "$work/err")"
    [ -s "$work/err" ] && bad "errors: $(head -3 "$work/err")"
    grep -v '^ready$\|^hog \|^ended$' "$work/out" && bad "output"
    heard
    truthful
    grep '^hog ' "$work/out" >"$work/truth"
    [ "$(wc -l <"$work/truth")" = 2 ] || bad "output: $(cat "$work/out")"
    while read -r hog name method begin end; do
        grep " $name running " "$work/seen" >"$work/events"
        within=0
        while read -r time thread kind class carrier since age methods; do
            if [ "$time" -gt "$begin" ] && [ "$time" -le "$end" ]; then
                within=$((within + 1))
                case $methods in *"$method,"*) ;; *) [ $within = 1 ] || bad "$name $time is in $methods" ;; esac
            fi
            [ "$since" -le "$begin" ] || bad "$name $time is of $since, after $begin"
        done <"$work/events"
        [ $within -ge 4 ] || bad "$within while $name computed from $begin to $end"
    done <"$work/truth"
    # Without the option, none of this happens.
    listen events=1
    more=,virtual=on,mounts=on
    echo 'churn 16' >"$work/lines"
    traced $carriers Running <"$work/lines"
    more=
    heard
    expect running 0
}

# Threads that compute for up to 60 ms come and go.
churned() { # flags
    [ "$major" -lt 21 ] && return
    section "brief hogs $*"
    listen events=1
    more=,virtual=exact
    echo "churn ${HOGS:-400}" >"$work/lines"
    traced $carriers "$@" Running <"$work/lines"
    more=
    [ $code = 0 ] && grep -q '^churned ' "$work/out" || bad "code $code: $(cat "$work/out" "$work/err")"
    [ -s "$work/err" ] && bad "errors: $(head -3 "$work/err")"
    [ "$(wc -l <"$work/out")" = 2 ] || bad "output: $(head -5 "$work/out")"
    heard
    truthful
    [ "$(value running)" -gt 0 ] || bad "none seen"
}

# The same while the agent is attached and detached. A park of the JVM's timer may be longer than a session.
churned_attached() {
    [ "$major" -lt 21 ] && return
    section "brief hogs, attached ${ATTACHES:-10} times"
    start_waiting ready -Xcheck:jni $carriers -cp "$classes" Running
    for round in $(seq "${ATTACHES:-10}"); do
        listen events=1
        echo 'churn 80' >&9
        attach endpoint=unix://"$sock" pool=256m exit-wait=60s virtual=exact park=off || bad "attach: $(cat "$work/report")"
        until [ "$(grep -c '^churned ' "$work/out")" -ge $round ] || [ $((round % 2)) = 1 ] || ! kill -0 $runner; do sleep 0.05; done
        detach
        heard
        truthful
    done
    exec 9>&-
    wait $runner || bad "the JVM exited with $?: $(head -3 "$work/err")"
    [ "$(grep -c '^churned ' "$work/out")" = "${ATTACHES:-10}" ] || bad "$(grep -c '^churned ' "$work/out") runs"
}

# All of it.
running() {
    hogs -Xcheck:jni
    hogs -Xint
    churned -Xcheck:jni
    for gc in Serial Z; do
        churned -XX:+Use${gc}GC -Xmx64m
    done
    churned_attached
}
