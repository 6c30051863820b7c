// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/weft-otel/weft/bench/crowd"
	"github.com/weft-otel/weft/bench/proc"
)

const tomcatJars = "build/tomcat"

// The load of the server: a round of each variant takes some seconds.
const (
	crowdClients  = 10_000
	crowdWarmUp   = 6 // requests of each client before those that are measured
	crowdMeasured = 10
	crowdMillis   = "1000" // of each answer: the server is not saturated, so that slower variants do not get less work
	crowdPatience = 20 * time.Minute
)

// parked are the numbers of parked threads of which one costs a part of the difference.
var parked = [2]int{10_000, 100_000}

// virtuals is the section of virtual threads: a server that handles each request on one, and memory of parked ones.
type virtuals struct {
	jdk      jdk
	classes  string
	server   string // its class path
	variants []variant
	sink     *sink
	cpu      map[string][]float64 // ns of a request, by variant
	memory   map[string][]float64 // bytes of a thread, by variant
	loads    []float64
}

func (s *virtuals) begin(ctx context.Context, o *options) (err error) {
	if err := errors.Join(need("build/libweft.so", "build"), need(filepath.Join(tomcatJars, "fetched"), "build/tomcat/fetched")); err != nil {
		return err
	}
	all, err := findJDKs(ctx)
	if err != nil {
		return err
	}
	s.jdk = all[len(all)-1]
	if s.classes, err = s.jdk.compile(ctx, o, ".", "bench/speed/virtual/Parked.java"); err != nil {
		return err
	}
	sources, err := filepath.Glob("e2e/tomcat/*.java")
	if err != nil {
		return err
	}
	server, err := s.jdk.compile(ctx, o, tomcatJars+"/*", sources...)
	if err != nil {
		return err
	}
	s.server = server + ":" + tomcatJars + "/*"
	s.cpu, s.memory = make(map[string][]float64), make(map[string][]float64)
	s.variants, s.sink, err = virtualVariants(o)
	return err
}

// virtualVariants returns the ways to run the JVM, the first one without anything, the last one with the flight recorder.
func virtualVariants(o *options) ([]variant, *sink, error) {
	dir, err := os.MkdirTemp(o.dir, "virtual-")
	if err != nil {
		return nil, nil, err
	}
	library, err := filepath.Abs("build/libweft.so")
	if err != nil {
		return nil, nil, err
	}
	events := append([]string{"VirtualThreadStart", "VirtualThreadEnd", "VirtualThreadPinned", "VirtualThreadSubmitFailed"}, threadEvents()...)
	settings := filepath.Join(dir, "virtual.jfc")
	if err := os.WriteFile(settings, []byte(flightSettings(events)), 0o600); err != nil {
		return nil, nil, err
	}
	socket := filepath.Join(dir, "agents")
	sink, err := newSink(socket)
	if err != nil {
		return nil, nil, err
	}
	agent := "-agentpath:" + library + "=endpoint=unix://" + socket + ",pool=256m,retain=64m,virtual="
	recorder := "-XX:StartFlightRecording:filename=" + filepath.Join(dir, "peer.jfr") + ",settings=" + settings + ",maxsize=64m"
	return []variant{
		{name: "none"},
		{"on", true, []string{agent + "on"}},
		{"exact", true, []string{agent + "exact"}},
		{"JFR", false, []string{recorder, "-Xlog:jfr*=off"}},
	}, sink, nil
}

// round begins with another variant each time: the first one may find the machine in another state than the others.
func (s *virtuals) round(ctx context.Context) error {
	for _, measure := range []func(context.Context, *variant) error{s.serve, s.park} {
		for i := range s.variants {
			v := &s.variants[(len(s.loads)+i)%len(s.variants)]
			if err := measure(ctx, v); err != nil {
				return fmt.Errorf("%s: %w", v.name, err)
			}
		}
	}
	s.loads = append(s.loads, busy())
	return nil
}

// serve measures the CPU time of a request: first of a few that warm the server up, then of those that count, with the same connections.
func (s *virtuals) serve(ctx context.Context, v *variant) (err error) {
	address, err := proc.FreeAddress()
	if err != nil {
		return err
	}
	host, port, _ := strings.Cut(address, ":")
	before := s.sink.batches.Load()
	jvm, err := s.start(ctx, v, "ready", "-Xmx3g", "-cp", s.server, "com.acme.prices.CrowdServer", host, port, crowdMillis, strconv.Itoa(crowdClients))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, jvm.end()) }()
	var took [2]time.Duration
	clients := crowd.Crowd{
		Address: address, Clients: crowdClients, Patience: crowdPatience, Requests: []int{crowdWarmUp, crowdMeasured},
		Path: func(client, n int) string { return fmt.Sprintf("/square/%d", client+n) },
		Want: func(client, n int) string { return strconv.Itoa((client + n) * (client + n)) },
		Before: func(phase int) (err error) {
			took[phase], err = proc.CPU(jvm.cmd.Process.Pid)
			return err
		},
	}
	r, err := clients.Run(ctx)
	if err != nil {
		return err
	}
	used, err := proc.CPU(jvm.cmd.Process.Pid)
	if err != nil {
		return err
	}
	if r.InFlight != crowdClients {
		return fmt.Errorf("%d requests in flight, want %d", r.InFlight, crowdClients)
	}
	if v.agent && s.sink.batches.Load() == before {
		return errors.New("the agent sent nothing")
	}
	request := float64(used-took[1]) / (crowdClients * crowdMeasured)
	s.cpu[v.name] = append(s.cpu[v.name], request)
	fmt.Fprintf(os.Stderr, "Java %s, server, %s: CPU %v a request, %v in all, load %.1f\n", s.jdk.version, v.name, time.Duration(request), r.Wall, busy())
	return nil
}

// park measures the memory of a parked thread. All of the heap is in memory from the start, so what grows is outside of it.
func (s *virtuals) park(ctx context.Context, v *variant) error {
	var sizes [2]float64
	for i, threads := range parked {
		jvm, err := s.start(ctx, v, "parked", "-Xms512m", "-Xmx512m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC", "-cp", s.classes, "Parked", strconv.Itoa(threads))
		if err != nil {
			return err
		}
		size, ok := proc.RSS(jvm.cmd.Process.Pid)
		if err := jvm.end(); err != nil || !ok {
			return errors.Join(err, errors.New("no RSS"))
		}
		sizes[i] = float64(size)
	}
	each := (sizes[1] - sizes[0]) / float64(parked[1]-parked[0])
	s.memory[v.name] = append(s.memory[v.name], each)
	fmt.Fprintf(os.Stderr, "Java %s, parked, %s: %.0f and %.0f MB, %.0f B a thread, load %.1f\n", s.jdk.version, v.name, sizes[0]/1e6, sizes[1]/1e6, each, busy())
	return nil
}

func (s *virtuals) rows() []line {
	load := medianOf(s.loads, itself)
	to := func(name string) string {
		all := ratiosOf(s.cpu[name], s.cpu["none"], itself)
		return fmt.Sprintf("%+.0f %% (%+.0f to %+.0f)", 100*(median(all)-1), 100*(all[0]-1), 100*(all[len(all)-1]-1))
	}
	bytes := func(name string) float64 {
		return medianOf(s.memory[name], itself) - medianOf(s.memory["none"], itself)
	}
	ratio := ratioOf(s.cpu["on"], s.cpu["JFR"], itself)
	return []line{
		{
			what:   fmt.Sprintf("Java %s, Tomcat on virtual threads, %d requests at once: CPU of a request", s.jdk.version, crowdClients),
			anchor: fmt.Sprintf("no agent %.0f µs; JFR %s", medianOf(s.cpu["none"], itself)/1e3, to("JFR")),
			weft:   fmt.Sprintf("on %s, exact %s", to("on"), to("exact")),
			ratio:  ratio, goal: "on ≤ JFR", met: ratio <= 1, load: load,
		},
		{
			what:   fmt.Sprintf("Java %s: memory of a parked virtual thread outside of the heap", s.jdk.version),
			anchor: fmt.Sprintf("no agent %.0f B; JFR %+.0f B", medianOf(s.memory["none"], itself), bytes("JFR")),
			weft:   fmt.Sprintf("on %+.0f B, exact %+.0f B", bytes("on"), bytes("exact")), load: load,
		},
	}
}
