#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Measures the agent. Arguments: the agent that times its callbacks, the fake receiver, the folder of
# the compiled programs, then the homes of the JDKs. Prints nanoseconds. While recording is paused,
# only the JVM's own cost of a callback remains.
agent=$1 receiver=$2 classes=$3
shift 3
sock=$(mktemp -u)
seen=$(mktemp)
trap 'rm -f "$sock" "$seen"' EXIT

# Runs the benchmark with options; keeps its output in a file.
run() {
    rm -f "$sock"
    "$receiver" "$sock" >/dev/null &
    while [ ! -S "$sock" ]; do sleep 0.02; done
    echo " $1 $spans"
    "$home/bin/java" $spans -agentpath:"$agent=endpoint=unix://$sock,pool=64m,$1" -cp "$classes" Bench >"$seen" 2>&1
    cat "$seen"
    wait
}

# The sum of both callbacks of a contended monitor and of Object.wait.
cost() {
    awk '/^  (contendedEnter|contendedEntered|wait|waited)  / { sum += $2 } END { print sum + 0 }' "$seen"
}

spans=
none=depth=0,wait-depth=0,park-depth=0
for home in "$@"; do
    "$home/bin/java" -version 2>&1 | head -1
    echo " without the agent"
    "$home/bin/java" -cp "$classes" Bench
    run pause=on
    run $none
    details=$(cost)
    for spans in -Dspans=thread -Dspans=request -Dspans=owner; do run $none; done
    spans=
    run mode=aggregated,$none
    aggregated=$(cost)
    run depth=32,wait-depth=16,park-depth=32
    details_deep=$(cost)
    run mode=aggregated
    aggregated_deep=$(cost)
    run depth=16,wait-depth=16,notify-depth=16,park-depth=16,unpark-depth=16
    echo "$aggregated $details $aggregated_deep $details_deep" |
        awk '{ printf " aggregated: %.2f of details without stacks, %.2f with those by default\n", $1 / $2, $3 / $4 }'
done
