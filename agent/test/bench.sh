#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# What does the agent cost? Arguments: the agent that times its callbacks, the fake receiver, the
# folder of the compiled programs, then the homes of the JDKs. Prints nanoseconds.
agent=$1 receiver=$2 classes=$3
shift 3
sock=$(mktemp -u)
trap 'rm -f "$sock"' EXIT
for home in "$@"; do
    "$home/bin/java" -version 2>&1 | head -1
    echo " without the agent"
    "$home/bin/java" -cp "$classes" Bench
    for options in depth=0,wait-depth=0,park-depth=0 depth=16,wait-depth=6,park-depth=16 depth=16,wait-depth=16,notify-depth=16,park-depth=16,unpark-depth=16; do
        rm -f "$sock"
        "$receiver" "$sock" >/dev/null &
        while [ ! -S "$sock" ]; do sleep 0.02; done
        echo " $options"
        "$home/bin/java" -agentpath:"$agent=endpoint=unix://$sock,$options" -cp "$classes" Bench
        wait
    done
done
