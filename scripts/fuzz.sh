#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# fuzz.sh COUNT [CORPUS] runs every fuzz target of the module with COUNT inputs (such as 10000x), one after the other, even if one fails. The
# agent's targets are much faster and get a hundred times as many. COUNT may also be a time (such as 10s), but before Go 1.27 a worker that
# is busy at the end may be reported as a failure, "context deadline exceeded" (golang/go#75804). Minimization is limited: by default it
# takes up to a minute for each interesting input. Inputs that reach new code are kept for later runs in CORPUS (default: in the cache of
# go). The tests of a package are built once for all its targets.
set -eu

cd "$(dirname "$0")/.."
GO=${GO:-go}
count=$1
bin=$PWD/build/fuzz/tests
mkdir -p "$PWD/build/fuzz"
corpus=$(realpath -m "${2:-$("$GO" env GOCACHE)/fuzz}")

grep -rHoE --include='*_test.go' --exclude-dir=build --exclude-dir=node_modules --exclude-dir=tools --exclude-dir='.?*' \
    '^func Fuzz[A-Za-z0-9_]+' . | sed 's,/[^/]*_test.go:func , ,' | LC_ALL=C sort | {
    built=
    failed=
    while read -r folder target; do
        [ "$folder" = "$built" ] || "$GO" test -c -fuzz . -o "$bin" "$folder" || exit 1
        built=$folder
        echo "fuzz $folder $target"
        inputs=$count
        case $target$count in
        FuzzScreen*0x) inputs=${count%0x}x ;; # it draws ten screens for each one
        esac
        (cd "$folder" && "$bin" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$inputs" -test.fuzzminimizetime 20x \
            -test.fuzzcachedir "$corpus/$folder" </dev/null) || failed="$failed $target"
    done
    [ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
} || code=$?
case $count in
*x) make -s -C agent fuzz EXECUTIONS=${count%x}00 ;;
*) make -s -C agent fuzz ;;
esac
exit ${code:-0}
