#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# record.sh JDK17 JDK25 records the inputs of the fuzzer anew, with the JDKs in these folders and the agent of make build: waits of all kinds,
# a convoy, a process that is killed in a deadlock, sums, virtual threads, and flight recordings.
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

fly() { # NAME JDK PROGRAM [ARGUMENT...]
    out=$1.jfr
    java=$2/bin/java
    shift 2
    # The recording has the JVM's options and the name of its file, which must not name this checkout.
    cp "$root/e2e/testdata/everything.jfc" "$classes"
    "$java" "-XX:StartFlightRecording=filename=$classes/$out,settings=$classes/everything.jfc" -cp "$classes" "$@" >/dev/null
    gzip -9nc "$classes/$out" >"$out.gz"
}

jdk17=$1
jdk25=$2
for version in 17 25; do
    eval "jdk=\$jdk$version"
    record "matrix-jdk$version" "$jdk" ,cpu=on,owner-stacks=on Matrix
    record "sums-jdk$version" "$jdk" ,mode=aggregated,interval=100ms PingPong 40
    record "convoy-jdk$version" "$jdk" "" Convoy lock
    record "deadlock-jdk$version" "$jdk" "" Deadlock
done
record virtual-jdk25 "$jdk25" ,virtual=exact,mounts=on VirtualDeadlocks
fly matrix-jdk17 "$jdk17" Matrix
fly convoy-jdk25 "$jdk25" Convoy monitor
