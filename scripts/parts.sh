#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# Runs parts of the tests and prints what each one took:
#
#   parts.sh FOLDER begin             empties the folder of logs
#   parts.sh FOLDER run NAME COMMAND  runs a part: its output goes to FOLDER/NAME.log, one line with its times to standard output
#   parts.sh FOLDER report NAME...    prints a table of the parts, and the end of the output of those that failed. It fails if a part
#                                     failed or did not run.
set -u

folder=$1
command=$2
shift 2

# The columns: name, elapsed seconds, seconds of processor time, result.
row() {
    printf '%-16s %8s %8s  %s\n' "$@"
}

begin() {
    rm -rf "$folder"
    mkdir -p "$folder"
    date +%s >"$folder/began"
}

run() {
    name=$1
    shift
    began=$(date +%s)
    mkdir -p "$folder"
    "$@" >"$folder/$name.log" 2>&1
    code=$?
    elapsed=$(($(date +%s) - began))
    # The second line is of the shell's children: user and system time, such as 1m2.5s.
    times >"$folder/$name.times"
    cpu=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, "m"); sum += 60 * t[1] + t[2] } printf "%.0f", sum }' "$folder/$name.times")
    [ $code = 0 ] && result=ok || result=FAILED
    row "$name" $elapsed "$cpu" $result | tee "$folder/$name.result"
    return $code
}

report() {
    failed=
    echo
    row part seconds processor ''
    for name in "$@"; do
        cat "$folder/$name.result" 2>/dev/null || row "$name" - - 'did not run'
        grep -q ' ok$' "$folder/$name.result" 2>/dev/null || failed="$failed $name"
    done
    row all $(($(date +%s) - $(cat "$folder/began"))) "$(cat "$folder"/*.result 2>/dev/null | awk '{ sum += $3 } END { print sum + 0 }')" ''
    [ -n "$failed" ] || return 0
    for name in $failed; do
        [ ! -f "$folder/$name.log" ] || printf '\n%s: the end of %s\n%s\n' "$name" "$folder/$name.log" "$(tail -n 200 "$folder/$name.log")"
    done
    echo
    echo "failed:$failed"
    return 1
}

"$command" "$@"
