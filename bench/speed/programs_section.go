// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const realJars = "build/real"

// programsSection is the section of third-party programs under the load of e2e/real, as whole processes.
type programsSection struct {
	jdks      []jdk
	classpath string
	variants  []variant
	sink      *sink
	results   map[string]string    // what each program printed, which is the same each time
	times     map[string][]float64 // CPU time in nanoseconds, by JDK, program and variant
	loads     []float64
}

// realPrograms are the programs, and operations of each of eight clients that take a few seconds.
func realPrograms() [][2]string {
	return [][2]string{{"h2", "8000"}, {"derby", "1500"}, {"jetty", "800"}, {"activemq", "2000"}, {"zookeeper", "700"}}
}

func (s *programsSection) begin(ctx context.Context, o *options) (err error) {
	if err := need(filepath.Join(realJars, "fetched"), "build/real/fetched"); err != nil {
		return err
	}
	if s.jdks, err = findJDKs(ctx); err != nil {
		return err
	}
	sources, err := filepath.Glob("e2e/real/src/*.java")
	if err != nil {
		return err
	}
	classes, err := s.jdks[0].compile(ctx, o, realJars+"/*", sources...)
	if err != nil {
		return err
	}
	s.classpath = classes + ":" + realJars + "/*"
	s.results, s.times = make(map[string]string), make(map[string][]float64)
	s.variants, s.sink, err = newVariants(ctx, o, s.jdks[0])
	return err
}

func (s *programsSection) round(ctx context.Context) error {
	for _, j := range s.jdks {
		for _, p := range realPrograms() {
			for i := range s.variants {
				if err := s.run(ctx, j, p, &s.variants[i]); err != nil {
					return fmt.Errorf("%s of Java %s, %s: %w", p[0], j.version, s.variants[i].name, err)
				}
			}
		}
	}
	s.loads = append(s.loads, busy())
	return nil
}

func (s *programsSection) run(ctx context.Context, j jdk, p [2]string, v *variant) error {
	flags := []string{"-Xmx256m", "-Dderby.stream.error.file=" + os.DevNull, "-Dderby.locks.waitTimeout=3600"}
	before := s.sink.batches.Load()
	var out bytes.Buffer
	cmd := j.java(ctx, v, append(flags, "-cp", s.classpath, "Load", p[0], p[1])...)
	u, _, err := spend(cmd, &out)
	if err != nil && !errors.As(err, new(*exec.ExitError)) { // the exit code depends on the result, as that of real programs
		return err
	}
	_, result, _ := strings.Cut(out.String(), p[0]+" ")
	if want := cmp.Or(s.results[p[0]], result); result == "" || result != want {
		return errors.Join(err, fmt.Errorf("printed %q, want %q", out.String(), want))
	}
	s.results[p[0]] = result
	if v.agent && s.sink.batches.Load() == before {
		return errors.New("the agent sent nothing")
	}
	key := j.version + p[0] + v.name
	s.times[key] = append(s.times[key], float64(u.cpu))
	fmt.Fprintf(os.Stderr, "Java %s, %s, %s: CPU %v\n", j.version, p[0], v.name, u.cpu)
	return nil
}

func (s *programsSection) rows() (table []line) {
	load := medianOf(s.loads, itself)
	var all []float64
	for _, j := range s.jdks {
		for _, p := range realPrograms() {
			times := func(v int) []float64 { return s.times[j.version+p[0]+s.variants[v].name] }
			to := func(v int) float64 { return ratioOf(times(v), times(none), itself) }
			all = append(all, to(details))
			recorder := ratioOf(times(details), times(flightRecorder), itself)
			table = append(table, line{
				what: fmt.Sprintf("Java %s, %s: CPU of the process", j.version, p[0]),
				anchor: fmt.Sprintf("no agent %.2f s; JFR %.2f times as much, async-profiler's locks %.2f",
					medianOf(times(none), itself)/1e9, to(flightRecorder), to(asyncProfiler)),
				weft:  fmt.Sprintf("details %.2f, aggregated %.2f", to(details), to(aggregated)),
				ratio: recorder, goal: "details ≤ JFR", met: recorder <= 1, load: load,
			})
		}
	}
	const most = 1.05
	middle := median(all)
	return append(table, line{
		what: "median of these programs", anchor: "no agent", weft: fmt.Sprintf("details %.2f", middle), ratio: middle,
		goal: fmt.Sprintf("≤ %.2f", most), met: middle <= most, load: load,
	})
}
