#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# record.sh JDK17 JDK25 records the inputs of the fuzzer anew, with the JDKs in these folders and the agent of make build: waits of all kinds,
# a process that is killed in a deadlock, sums, virtual threads, and a flight recording.
set -eu
cd "$(dirname "$0")"
root=$(cd ../../../../.. && pwd)
classes=$(mktemp -d)
trap 'rm -rf "$classes"' EXIT
"$1/bin/javac" --release 11 -d "$classes" "$root"/e2e/jvm/*.java "$root"/agent/test/java/Blocked.java

record() { # NAME JDK AGENT-OPTIONS PROGRAM [ARGUMENT...]
    out=$1.weft
    java=$2/bin/java
    options=$3
    shift 3
    timeout -s KILL 15 "$java" "-agentpath:$root/build/libweft.so=file=$out,service=${out%.*}$options" -cp "$classes" "$@" >/dev/null ||
        test "$1" = Deadlock # which does not end
    gzip -9nf "$out"
}

for version in 17 25; do
    jdk=$1
    shift
    record "matrix-jdk$version" "$jdk" ,cpu=on,owner-stacks=on Matrix
    record "sums-jdk$version" "$jdk" ,mode=aggregated,interval=100ms PingPong 40
    record "deadlock-jdk$version" "$jdk" "" Deadlock
    "$jdk/bin/java" "-XX:StartFlightRecording=filename=startsjoins-jdk$version.jfr,settings=$root/e2e/testdata/everything.jfc" \
        -cp "$classes" StartsJoins 20 >/dev/null
    gzip -9nf "startsjoins-jdk$version.jfr"
done
record virtual-jdk25 "$jdk" ,virtual=exact,mounts=on VirtualDeadlocks
