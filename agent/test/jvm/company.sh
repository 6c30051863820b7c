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
    twice
}

# The library loaded twice: the second copy is ignored with one line.
twice() {
    section "twice"
    "$java" -cp "$classes" Ways exit >"$work/plain.out" 2>"$work/plain.err"
    again="-agentpath:$agent=endpoint=unix://$work/nobody,depth=1"
    listen
    traced "$again" Ways exit
    [ $code = 3 ] || bad "code $code"
    cmp -s "$work/out" "$work/plain.out" || bad "other output: $(head -3 "$work/out")"
    [ "$(grep -c '^weft: the agent is already loaded' "$work/err")" = 1 ] || bad "errors: $(head -3 "$work/err")"
    grep -v '^weft: ' "$work/err" | cmp -s - "$work/plain.err" || bad "other errors: $(head -3 "$work/err")"
    heard
    counts "$again"
}
