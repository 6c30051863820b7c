#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# bench.sh COUNT runs the benchmarks of the hot paths COUNT times and prints a table of their medians, then ratios to a peer
# or a floor from the same run. Run it on an otherwise idle machine.
set -eu

count=${1:-5}
out=$(mktemp)
trap 'rm -f "$out"' EXIT INT TERM
for package in ./internal/wire ./internal/engine ./internal/engine/ordering ./internal/engine/criticalpath ./internal/threadpdata ./internal/recording/orca ./internal/recording/tptp ./internal/recording/triples ./internal/recording/jfr ./internal/recording/native ./exporter/threadviewexporter/internal/server ./receiver/jvmthreadreceiver/internal/stream ./exporter/threadlogexporter ./connector/contentionconnector; do
    [ -d "$package" ] || continue
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
    if (!(key in seen)) { seen[key] = 1; order[++keys] = key }
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
        k = order[i]; med[k] = median(ns[k], runs[k])
        printf "%-48s %12.1f %8s %8s%s\n", k, med[k], bytes[k], allocs[k], extra[k]
    }
    print ""
    ratio("a TPTP element, beside finding its tags with encoding/xml", "tptp.Decode", "tptp.StandardXML")
    ratio("an event through the engine, beside building a plain span", "engine.Engine", "threadpdata.SpansFloor")
    ratio("a span, beside building a plain one", "threadpdata.Spans", "threadpdata.SpansFloor")
    ratio("an event to metrics, beside a span through spanmetrics of contrib", "contentionconnector.Event/sums", "contentionconnector.SpanMetrics")
    ratio("the same with exemplars and critical paths", "contentionconnector.Event/criticalPath", "contentionconnector.SpanMetrics")
    ratio("an event through the stream to nop, beside a span through otlp to nop", "stream.StreamToNop", "stream.OTLPReceiverToNop")
}
function ratio(what, a, b) {
    for (k in med) { if (k == a || index(k, a "/") == 1) x = med[k]; if (k == b || index(k, b "/") == 1) y = med[k] }
    if (x && y) printf "%-78s %5.2f\n", what, x / y
    x = y = 0
}
' "$out"
