#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# bench.sh COUNT runs the benchmarks of the hot paths COUNT times and prints a table of their medians. Ratios to peers and floors
# are in the table of bench/speed. Run it on an otherwise idle machine.
set -eu

count=${1:-5}
out=$(mktemp)
trap 'rm -f "$out"' EXIT INT TERM
for package in ./internal/wire ./internal/engine ./internal/engine/ordering ./internal/engine/criticalpath ./internal/threadpdata \
    ./internal/recording/orca ./internal/recording/tptp ./internal/recording/triples ./internal/recording/jfr ./internal/recording/native \
    ./internal/recording/otlp \
    ./internal/threadview/server ./receiver/jvmthreadreceiver/internal/stream ./exporter/threadlogexporter \
    ./connector/contentionconnector; do
    echo "measuring $package" >&2
    go test -run '^$' -bench . -benchmem -count "$count" "$package" >>"$out"
done

awk '
function median(list, n,    a, i, j, t) {
    split(list, a, " ")
    for (i = 2; i <= n; i++) for (j = i; j > 1 && a[j] + 0 < a[j-1] + 0; j--) { t = a[j]; a[j] = a[j-1]; a[j-1] = t }
    return a[int((n + 1) / 2)]
}
/^pkg:/ { n = split($2, p, "/"); pkg = p[n] }
/^Benchmark/ {
    name = $1; sub(/^Benchmark/, "", name); sub(/-[0-9]+$/, "", name)
    key = pkg "." name
    if (!(key in runs)) order[++keys] = key
    runs[key]++
    rest = ""
    for (i = 3; i < NF; i += 2) {
        v = $i; unit = $(i+1)
        if (unit == "ns/op") ns[key] = ns[key] " " v
        else if (unit == "allocs/op") allocs[key] = v
        else if (unit == "B/op") bytes[key] = v
        else rest = rest sprintf("  %s %s", v, unit)
    }
    if (rest != "") extra[key] = rest
}
END {
    printf "%-48s %12s %8s %8s\n", "WHAT", "ns/op", "B/op", "allocs"
    for (i = 1; i <= keys; i++) {
        k = order[i]
        printf "%-48s %12.1f %8s %8s%s\n", k, median(ns[k], runs[k]), bytes[k], allocs[k], extra[k]
    }
}
' "$out"
