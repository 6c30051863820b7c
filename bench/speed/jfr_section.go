// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/weft-otel/weft/bench/proc"
)

const (
	peers = "build/peers"
	slow  = 3 // the rounds of rows that take long
	parks = "1200000"
)

// recordings is the section of flight recordings: the whole analysis of a recording, next to programs that only print or load it.
type recordings struct {
	jdk     jdk
	classes string
	file    string
	bytes   int64
	weft    []usage
	print   []usage
	jmc     []usage
	loads   []float64
}

func (r *recordings) begin(ctx context.Context, o *options) error {
	if err := need("build/weft", "build"); err != nil {
		return err
	}
	if err := need(filepath.Join(peers, ".fetched"), "build/peers/.fetched"); err != nil {
		return err
	}
	jdks, err := findJDKs(ctx)
	if err != nil {
		return err
	}
	r.jdk = jdks[len(jdks)-1]
	r.classes, err = r.jdk.compile(ctx, o, peers+"/*", "bench/speed/peers/Load.java", "internal/recording/jfr/testdata/Recorded.java")
	if err != nil {
		return err
	}
	r.file = filepath.Join(o.dir, "recorded.jfr")
	record := exec.CommandContext(ctx, r.jdk.program("java"), "-cp", r.classes, "Recorded", r.file, "1", "1", parks)
	if out, err := record.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, proc.Tail(string(out)))
	}
	info, err := os.Stat(r.file)
	if err != nil {
		return err
	}
	r.bytes = info.Size()
	return nil
}

func (r *recordings) round(ctx context.Context) error {
	if len(r.weft) == slow {
		return nil
	}
	for _, run := range []struct {
		samples *[]usage
		command []string
	}{
		{&r.weft, []string{"build/weft", "summary", r.file}},
		{&r.print, []string{r.jdk.program("jfr"), "print", "--json", r.file}},
		{&r.jmc, []string{r.jdk.program("java"), "-cp", r.classes + ":" + peers + "/*", "Load", r.file}},
	} {
		u, _, err := spend(exec.CommandContext(ctx, run.command[0], run.command[1:]...), nil)
		if err != nil {
			return err
		}
		*run.samples = append(*run.samples, u)
		fmt.Fprintf(os.Stderr, "%s: %v, %d MB\n", strings.Join(run.command[:2], " "), u.cpu, u.peak/1e6)
	}
	r.loads = append(r.loads, busy())
	return nil
}

func (r *recordings) rows() []line {
	seconds := func(u usage) float64 { return u.cpu.Seconds() }
	mb := func(u usage) float64 { return float64(u.peak) / 1e6 }
	what := fmt.Sprintf("JFR %.1f MB of Java %s: whole analysis", float64(r.bytes)/1e6, r.jdk.version)
	compare := func(what, peer string, anchors []usage, value func(usage) float64, unit string, most float64) line {
		ratio := ratioOf(r.weft, anchors, value)
		return line{
			what: what, anchor: fmt.Sprintf("%s %.3g %s", peer, medianOf(anchors, value), unit),
			weft: fmt.Sprintf("%.3g %s", medianOf(r.weft, value), unit), ratio: ratio, goal: fmt.Sprintf("≤ %.3f", most), met: ratio <= most,
			load: medianOf(r.loads, func(v float64) float64 { return v }),
		}
	}
	return []line{
		compare(what+", CPU", "`jfr print --json`", r.print, seconds, "s", 1.0/30),
		compare(what+", CPU", "JMC, loading only", r.jmc, seconds, "s", 0.6),
		compare(what+", peak RSS", "JMC, loading only", r.jmc, mb, "MB", 1),
	}
}
