// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/weft-otel/weft/bench/proc"
)

// starts is how many JVMs of each kind are started in a round.
const starts = 4

// agents is the section of the agent: the same Java programs without it, with it, and with other tools.
type agents struct {
	jdks     []jdk
	classes  string
	variants []variant
	sink     *sink
	times    map[string][]spent // by JDK, program and variant
	loads    []float64
}

// spent is what a program took: its measured phase, or all of it.
type spent struct{ cpu, wall float64 } // nanoseconds

// programs of agent/test/java/Workloads.java, and how often each repeats its operation.
func workloads() [][2]string {
	return [][2]string{{"contended", "60000"}, {"wait-notify", "60000"}, {"park-unpark", "60000"}, {"uncontended", "20000000"}, {"start-join", "8000"}}
}

func (a *agents) begin(ctx context.Context, o *options) (err error) {
	if a.jdks, err = findJDKs(ctx); err != nil {
		return err
	}
	hello := filepath.Join(o.dir, "Hello.java")
	text := "public final class Hello { public static void main(String[] args) { System.out.println(\"hello\"); } }"
	if err := os.WriteFile(hello, []byte(text), 0o600); err != nil {
		return err
	}
	if a.classes, err = a.jdks[0].compile(ctx, o, ".", hello, "agent/test/java/Workloads.java"); err != nil {
		return err
	}
	if a.variants, a.sink, err = newVariants(ctx, o, a.jdks[0]); err != nil {
		return err
	}
	a.times = make(map[string][]spent)
	return nil
}

func (a *agents) round(ctx context.Context) error {
	for _, j := range a.jdks {
		for range starts {
			for _, v := range a.variants[:details+1] {
				u, wall, err := spend(j.java(ctx, &v, "-Xmx256m", "-XX:+UseSerialGC", "-cp", a.classes, "Hello"), nil)
				if err != nil {
					return err
				}
				a.add(j, "start", v, spent{float64(u.cpu), float64(wall)})
			}
		}
		if len(a.loads) >= slow {
			continue
		}
		for _, w := range workloads() {
			for _, v := range a.variants {
				s, err := a.work(ctx, j, v, w)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", w[0], v.name, err)
				}
				a.add(j, w[0], v, s)
			}
		}
	}
	a.loads = append(a.loads, busy())
	return nil
}

// work runs a workload, which prints the time of its measured phase and the CPU time of its process in this phase.
func (a *agents) work(ctx context.Context, j jdk, v variant, w [2]string) (s spent, err error) {
	var out bytes.Buffer
	before := a.sink.batches.Load()
	if _, _, err := spend(j.java(ctx, &v, "-Xmx256m", "-XX:+UseSerialGC", "-cp", a.classes, "Workloads", w[0], w[1]), &out); err != nil {
		return s, err
	}
	if v.agent && a.sink.batches.Load() == before {
		return s, errors.New("the agent sent nothing")
	}
	_, result, found := strings.Cut(out.String(), "result ")
	if !found {
		return s, fmt.Errorf("no result in %q", proc.Tail(out.String()))
	}
	var operations float64
	if _, err := fmt.Sscan(result, &operations, &s.wall, &s.cpu); err != nil {
		return s, err
	}
	s.wall, s.cpu = s.wall/operations, s.cpu/operations
	fmt.Fprintf(os.Stderr, "Java %s, %s, %s: CPU %v an operation\n", j.version, w[0], v.name, time.Duration(s.cpu))
	return s, nil
}

func (a *agents) add(j jdk, program string, v variant, s spent) {
	key := j.version + program + v.name
	a.times[key] = append(a.times[key], s)
}

func (a *agents) rows() (table []line) {
	load := medianOf(a.loads, func(v float64) float64 { return v })
	cpu, wall := func(s spent) float64 { return s.cpu }, func(s spent) float64 { return s.wall }
	for _, j := range a.jdks {
		without, with := a.times[j.version+"startnone"], a.times[j.version+"startdetails"]
		for _, value := range []struct {
			name string
			of   func(spent) float64
		}{{"CPU", cpu}, {"wall", wall}} {
			const most = 1.05
			ratio := ratioOf(with, without, value.of)
			table = append(table, line{
				what:   fmt.Sprintf("start of Java %s, hello world (n=%d), %s", j.version, len(without), value.name),
				anchor: fmt.Sprintf("no agent %.1f ms", medianOf(without, value.of)/1e6), weft: fmt.Sprintf("%.1f ms", medianOf(with, value.of)/1e6),
				ratio: ratio, goal: fmt.Sprintf("≤ %.2f", most), met: ratio <= most, load: load,
			})
		}
	}
	for _, j := range a.jdks {
		for _, w := range workloads() {
			times := func(v int) []spent { return a.times[j.version+w[0]+a.variants[v].name] }
			to := func(v int) float64 { return ratioOf(times(v), times(none), cpu) }
			ratio := ratioOf(times(details), times(flightRecorder), cpu)
			table = append(table, line{
				what: fmt.Sprintf("Java %s, %s: CPU of the program", j.version, w[0]),
				anchor: fmt.Sprintf("no agent %.3g µs an operation; JFR %.2f times as much, async-profiler's locks %.2f",
					medianOf(times(none), cpu)/1e3, to(flightRecorder), to(asyncProfiler)),
				weft:  fmt.Sprintf("details %.2f, aggregated %.2f", to(details), to(aggregated)),
				ratio: ratio, goal: "details ≤ JFR", met: ratio <= 1, load: load,
			})
		}
	}
	return table
}
