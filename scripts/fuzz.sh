#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# fuzz.sh COUNT runs every fuzz target of the module with COUNT inputs (such as 10000x), one after the other. The agent's targets
# are much faster and get a hundred times as many. COUNT may also be a time (such as 10s), but before Go 1.27 a worker that is busy
# at the end may be reported as a failure, "context deadline exceeded" (golang/go#75804). Minimization is limited: by default it
# takes up to a minute for each interesting input.
set -eu

grep -rHoE --include='*_test.go' --exclude-dir=build --exclude-dir=node_modules --exclude-dir=tools --exclude-dir='.?*' \
    '^func Fuzz[A-Za-z0-9_]+' . | LC_ALL=C sort | while IFS=: read -r file func; do
    target=${func#func }
    echo "fuzz $(dirname "$file") $target"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$1" -fuzzminimizetime 20x "$(dirname "$file")" </dev/null
done
case $1 in
*x) make -s -C agent fuzz EXECUTIONS=${1%x}00 ;;
*) make -s -C agent fuzz ;;
esac
