#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# fuzz.sh TIME runs every fuzz target of the module for TIME (such as 10s), one after the other. What is interesting is made smaller with a
# few tries only: by default that takes a minute each, in which nothing else is tried.
set -eu

grep -rHoE --include='*_test.go' --exclude-dir=build --exclude-dir=node_modules --exclude-dir=tools \
    '^func Fuzz[A-Za-z0-9_]+' . | LC_ALL=C sort | while IFS=: read -r file func; do
    target=${func#func }
    echo "fuzz $(dirname "$file") $target"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$1" -fuzzminimizetime 20x "$(dirname "$file")" </dev/null
done
