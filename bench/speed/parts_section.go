// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-otel/weft/bench/proc"
)

// benchmark is a benchmark of a package and one of the values that it reports.
type benchmark struct {
	dir, name, unit string
	about           string  // what one operation is
	per             float64 // divides the value; zero: one
}

// partRow compares a benchmark with a peer or a floor.
type partRow struct {
	what   string
	bench  benchmark
	anchor benchmark // zero: none
	most   float64   // of the ratio, or of the value if there is no anchor
}

// partRows are the rows of single packages.
func partRows() []partRow {
	const pdata, contention, path, tptp = "./internal/threadpdata", "./connector/contentionconnector", "./internal/engine/criticalpath", "./internal/recording/tptp"
	floor := benchmark{pdata, "SpansFloor", "ns/op", "a plain span", 0}
	spanMetrics := benchmark{contention, "SpanMetrics", "cpu-ns/op", "a span through span_metrics", 0}
	smallest := benchmark{path, "Bounded/10000", "ns/visited", "over 10,000", 0}
	rows := []partRow{
		{"engine: an event", benchmark{"./internal/engine", "Engine", "ns/op", "", 0}, floor, 1},
		{"engine: memory of an interval", benchmark{"./internal/engine", "Window/1000000", "B/interval", "", 0}, benchmark{}, 80},
		{"emission of a span", benchmark{pdata, "Spans", "ns/op", "", 0}, floor, 2},
		carrierRow("raw", "B/event", 1),
		carrierRow("zstd", "zstd-B/event", 0.75),
		{"connector, sums only: an event", benchmark{contention, "Event/sums", "cpu-ns/op", "", 0}, spanMetrics, 1},
		{"connector, with paths: an event", benchmark{contention, "Event/criticalPath", "cpu-ns/op", "", 0}, spanMetrics, 1},
	}
	for _, size := range []string{"100000", "1000000", "10000000"} {
		rows = append(rows, partRow{"path: a visited piece of " + size, benchmark{path, "Bounded/" + size, "ns/visited", "", 0}, smallest, 1.5})
	}
	few := benchmark{path, "WhatIf1M/locks=16", "ns/op", "with 16 locks", 1e6}
	if crispFolder() != "" {
		rows = append(
			rows,
			partRow{"path: an interval of a million", benchmark{path, "Bounded/1000000", "ns/op", "", 1e6}, crisp("path"), 0.01},
			partRow{"what-if: an interval of a million with 16 locks", few, crisp("saved"), 0.05},
		)
	}
	return append(
		rows,
		partRow{"what-if: an interval of a million with 1,024 locks", benchmark{path, "WhatIf1M/locks=1024", "ns/op", "", 1e6}, few, 0},
		partRow{"TPTP: an element", benchmark{tptp, "Decode", "ns/op", "", 0}, benchmark{tptp, "StandardXML", "ns/op", "its tags with encoding/xml", 0}, 1},
	)
}

// carrierRow compares the bytes of an event in carriers: joined batches with small ones.
func carrierRow(how, unit string, atMost float64) partRow {
	const dir = "./internal/threadpdata"
	small := benchmark{dir, "CarrierSize/small", unit, "batches of 20 events", 0}
	return partRow{"carrier, " + how + ": an event", benchmark{dir, "CarrierSize/large", unit, "", 0}, small, atMost}
}

// crisp is a value that peers/crisp.py prints.
func crisp(name string) benchmark {
	return benchmark{name: name, unit: "ns/span", about: "CRISP, a span"}
}

// crispFolder returns the checkout of CRISP, which no registry has; empty: there is none.
func crispFolder() string { return os.Getenv("CRISP") }

// partsSection runs Go benchmarks. Those of a package share a process, which also contains the peer; both are on one goroutine.
type partsSection struct {
	list     []partRow
	programs map[string]string // compiled benchmarks, by package
	values   map[benchmark][]float64
	loads    []float64
}

func (s *partsSection) begin(ctx context.Context, o *options) error {
	s.list, s.programs, s.values = partRows(), make(map[string]string), make(map[benchmark][]float64)
	for i := range s.list {
		dir := s.list[i].bench.dir
		if dir == "" || s.programs[dir] != "" {
			continue
		}
		program := filepath.Join(o.dir, strings.ReplaceAll(dir, "/", "_")+".test")
		if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-o", program, dir).CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, proc.Tail(string(out)))
		}
		s.programs[dir] = program
	}
	return nil
}

func (s *partsSection) round(ctx context.Context) error {
	var done []benchmark
	for i := range s.list {
		for _, b := range []benchmark{s.list[i].anchor, s.list[i].bench} {
			if b == (benchmark{}) || slices.Contains(done, b) {
				continue
			}
			done = append(done, b)
			value, err := b.run(ctx, s.programs[b.dir])
			if err != nil {
				return fmt.Errorf("%s: %w", b.name, err)
			}
			s.values[b] = append(s.values[b], value)
			fmt.Fprintf(os.Stderr, "%s: %.1f %s\n", b.name, value, b.unit)
		}
	}
	s.loads = append(s.loads, busy())
	return nil
}

// run runs the benchmark once and returns the value with its unit.
func (b benchmark) run(ctx context.Context, program string) (float64, error) {
	if b.dir == "" {
		return b.runCRISP(ctx)
	}
	var pattern []string
	for part := range strings.SplitSeq("Benchmark"+b.name, "/") {
		pattern = append(pattern, "^"+regexp.QuoteMeta(part)+"$")
	}
	cmd := exec.CommandContext(ctx, program, "-test.run=^$", "-test.benchtime=300ms", "-test.bench="+strings.Join(pattern, "/"))
	cmd.Dir = b.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%w\n%s", err, proc.Tail(string(out)))
	}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if i := slices.Index(fields, b.unit); i > 0 && strings.HasPrefix(fields[0], "Benchmark") {
			value, err := strconv.ParseFloat(fields[i-1], 64)
			return value / cmp.Or(b.per, 1), err
		}
	}
	return 0, fmt.Errorf("no value in %s\n%s", b.unit, proc.Tail(string(out)))
}

func (b benchmark) runCRISP(ctx context.Context) (float64, error) {
	out, err := exec.CommandContext(ctx, "python3", "bench/speed/peers/crisp.py", crispFolder(), "100000").Output()
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == b.name {
			return strconv.ParseFloat(fields[1], 64)
		}
	}
	return 0, fmt.Errorf("no value in %q", out)
}

func (s *partsSection) rows() (table []line) {
	for i := range s.list {
		r := &s.list[i]
		own := s.values[r.bench]
		l := line{what: r.what, weft: r.bench.amount(medianOf(own, itself)), load: medianOf(s.loads, itself)}
		compared := medianOf(own, itself)
		limit := "≤ " + r.bench.amount(r.most)
		if r.anchor != (benchmark{}) {
			anchors := s.values[r.anchor]
			l.anchor = r.anchor.about + " " + r.anchor.amount(medianOf(anchors, itself))
			l.ratio = ratioOf(own, anchors, itself)
			compared, limit = l.ratio, fmt.Sprintf("≤ %.2f", r.most)
		}
		if r.most > 0 {
			l.goal, l.met = limit, compared <= r.most
		}
		table = append(table, l)
	}
	return table
}

// amount returns a value with its unit, without what the row states anyway.
func (b benchmark) amount(v float64) string {
	unit, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(b.unit, "cpu-"), "zstd-"), "/")
	if unit == "ns" && v >= 1e6 {
		return fmt.Sprintf("%.0f ms", v/1e6)
	}
	return fmt.Sprintf("%.0f %s", v, unit)
}
