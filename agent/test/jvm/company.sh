# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Sections of jvmtest.sh: other tools observe the same JVM.

# Enables all lock events of the flight recorder, without thresholds.
make_profile() {
    {
        echo '<?xml version="1.0" encoding="UTF-8"?><configuration version="2.0">'
        for event in JavaMonitorEnter JavaMonitorWait JavaMonitorInflate ThreadPark ThreadSleep ThreadStart ThreadEnd; do
            echo "<event name=\"jdk.$event\"><setting name=\"enabled\">true</setting>" \
                '<setting name="stackTrace">true</setting><setting name="threshold">0 ns</setting></event>'
        done
        echo '</configuration>'
    } >"$work/all.jfc"
}

company() {
    section "with the flight recorder"
    make_profile
    recorder="-Xlog:jfr+startup=error -XX:StartFlightRecording=settings=$work/all.jfc,filename=$work/all.jfr"
    same $recorder Ways exit
    counts $recorder
    [ -s "$work/all.jfr" ] || bad "no recording"
    section "with a debugger's agent"
    debugger=-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,quiet=y,address=127.0.0.1:0
    same $debugger Ways exit
    counts $debugger
    twice "$agent"
    cp "$agent" "$work/copy.so"
    twice "$work/copy.so"
    copied
}

# The library loaded twice, from the same path or from another: the second copy is ignored with one line.
twice() { # path of the second
    section "twice, second $(basename "$1")"
    "$java" -cp "$classes" Ways exit >"$work/plain.out" 2>"$work/plain.err"
    again="-agentpath:$1=endpoint=unix://$work/nobody,depth=1"
    listen
    traced "$again" Ways exit
    [ $code = 3 ] || bad "code $code"
    cmp -s "$work/out" "$work/plain.out" || bad "other output: $(head -3 "$work/out")"
    [ "$(grep -c '^weft: the agent is already loaded' "$work/err")" = 1 ] || bad "errors: $(head -3 "$work/err")"
    grep -v '^weft: ' "$work/err" | cmp -s - "$work/plain.err" || bad "other errors: $(head -3 "$work/err")"
    heard
    counts "$again"
}

# A copy of the library is another one for the dynamic linker. It passes what it is given to the agent: events are sent once.
copied() {
    section "a copy attached"
    start_waiting stuck -Xcheck:jni -cp "$classes" Stuck
    load_copy 'status=now' # the copy is loaded first, but begins nothing
    listen
    attach endpoint=unix://"$sock" service=jvmtest pool=256m exit-wait=60s depth=5 || bad "attach: $(cat "$work/report")"
    load_copy 'depth=7'
    attach status=now || bad "attach: $(cat "$work/report")"
    grep -q '^  depth=7$' "$work/report" || bad "status: $(cat "$work/report")"
    attach status=now depth=8 && bad "a status changed something"
    commanded 'work 1000'
    load_copy 'detach=now'
    heard
    expect 'Stuck$Worked.notify' 1000
    attach status=now || bad "attach: $(cat "$work/report")"
    grep -qx 'The agent is stopped.' "$work/report" || bad "after the end: $(cat "$work/report")"
    commanded free
    echo end >&9
    exec 9>&-
    wait $runner || bad "the JVM exited with $?: $(head -3 "$work/err")"
}

load_copy() { # options
    "$home/bin/jcmd" $jvm JVMTI.agent_load "$work/copy.so" "\"$1\"" >"$work/loaded" 2>&1
    grep -q 'return code: 0' "$work/loaded" || bad "$1: $(cat "$work/loaded")"
}
