// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/weft-otel/weft/bench/load"
)

// sample is one measurement of a row of a collector.
type sample struct {
	usage

	events int
	load   float64
}

// ns returns the CPU time of an event in nanoseconds.
func (s sample) ns() float64 { return float64(s.cpu) / float64(s.events) }

// collectors is the section of the collector as a whole.
type collectors struct {
	programs []string
	chosen   []row
	samples  []map[string][]sample // by program and row
}

func (c *collectors) begin(_ context.Context, o *options) error {
	c.programs = o.programs
	for _, program := range o.programs {
		if _, err := os.Stat(program); err != nil {
			return fmt.Errorf("%w: run make build-full", err)
		}
		c.samples = append(c.samples, make(map[string][]sample))
	}
	all, needed := collectorRows(), make(map[string]bool)
	for i := range all {
		if r := &all[i]; o.only.MatchString(r.name) {
			needed[r.name], needed[r.anchor] = true, true
		}
	}
	for i := range all {
		if r := &all[i]; needed[r.name] {
			r.complete(o)
			c.chosen = append(c.chosen, *r)
		}
	}
	return nil
}

// complete fills in what the row leaves to the command line.
func (r *row) complete(o *options) {
	if r.shape == (load.Shape{}) {
		r.shape = o.shape
	}
	r.jvms, r.events = cmp.Or(r.jvms, 1), cmp.Or(r.events, o.events)
	if r.paced > 0 {
		r.paced = cmp.Or(o.paced, r.paced)
		r.events = r.jvms * int(float64(r.shape.Rate)*r.paced.Seconds())
	}
}

func (c *collectors) round(ctx context.Context) error {
	for i := range c.chosen {
		r := &c.chosen[i]
		for p, program := range c.programs {
			before := c.samples[p][r.name]
			if r.paced > 0 && len(before) > 0 {
				continue
			}
			s, err := r.measure(ctx, program)
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			s.load = busy()
			c.samples[p][r.name] = append(before, s)
			fmt.Fprintf(os.Stderr, "%s: %s: %.0f ns, load %.1f\n", program, r.name, s.ns(), s.load)
		}
	}
	return nil
}

// measure measures the row once.
func (r *row) measure(ctx context.Context, program string) (sample, error) {
	if r.parts.otlp {
		s, err := newServices(r.events)
		if err != nil {
			return sample{}, err
		}
		u, err := measure(ctx, program, r.parts, func(ctx context.Context, at addresses) error { return s.send(ctx, at.otlp) })
		return sample{usage: u, events: r.events}, err
	}
	j := jvm{shape: r.shape, paced: r.paced > 0}
	j.batches = j.shape.Batches(r.events / r.jvms)
	v := &visitors{}
	u, err := measure(ctx, program, r.parts, func(ctx context.Context, at addresses) error {
		errs := make([]error, r.jvms)
		v.root = "http://" + at.page + "/api/"
		visiting, leave := context.WithCancel(ctx)
		defer leave()
		var all, guests sync.WaitGroup
		guests.Go(func() { v.follow(visiting, r.pages) })
		for n := range r.jvms {
			stagger() // JVMs do not start at once
			all.Go(func() { errs[n] = j.send(ctx, at.socket) })
		}
		all.Wait()
		leave()
		guests.Wait()
		return errors.Join(errs...)
	})
	if r.pages > 0 {
		fmt.Fprintln(os.Stderr, v)
	}
	return sample{usage: u, events: load.Total(j.batches) * r.jvms}, err
}

// rows returns the rows of the table. If there are two collectors, the first is the anchor of the second.
func (c *collectors) rows() (table []line) {
	last := len(c.samples) - 1
	for i := range c.chosen {
		r := &c.chosen[i]
		own := c.samples[last][r.name]
		l := line{what: r.name, weft: r.describe(own), load: medianOf(own, func(s sample) float64 { return s.load })}
		switch {
		case last > 0:
			l.anchor, l.ratio = r.describe(c.samples[0][r.name]), ratioOf(own, c.samples[0][r.name], sample.ns)
		case r.parts.otlp:
			l.anchor, l.weft = l.weft, "–"
		case r.anchor != "":
			anchors := c.samples[0][r.anchor]
			l.anchor = fmt.Sprintf("%s %.0f ns", r.anchor, medianOf(anchors, sample.ns))
			l.ratio = ratioOf(own, anchors, sample.ns)
		}
		if last == 0 {
			l.goal, l.met = r.goal.String(), r.met(own, l.ratio)
		}
		table = append(table, l)
	}
	return table
}

// cores returns the CPU time of a second of the load, not of the measurement, which other load on the machine extends.
func (r *row) cores(s sample) float64 { return float64(s.cpu) / float64(r.paced) }

func megabytes(s sample) float64 { return float64(s.peak) / 1e6 }

func (r *row) describe(samples []sample) string {
	if r.paced > 0 {
		return fmt.Sprintf("%.2f cores, %.0f MB", medianOf(samples, r.cores), medianOf(samples, megabytes))
	}
	ns := make([]float64, len(samples))
	for i, s := range samples {
		ns[i] = s.ns()
	}
	middle := median(ns) // sorts
	return fmt.Sprintf("%.0f ns (%.0f–%.0f), %.0f MB", middle, ns[0], ns[len(ns)-1], medianOf(samples, megabytes))
}

// met reports whether the goal was met.
func (r *row) met(samples []sample, ratio float64) bool {
	g := r.goal
	return (g.ratio == 0 || ratio <= g.ratio) && (g.ns == 0 || medianOf(samples, sample.ns) <= g.ns) &&
		(g.cores == 0 || medianOf(samples, r.cores) <= g.cores) && (g.mb == 0 || medianOf(samples, megabytes) <= g.mb)
}

func (g goal) String() string {
	var all []string
	for _, limit := range []struct {
		value  float64
		format string
	}{{g.ratio, "≤ %.2f"}, {g.ns, "≤ %.0f ns"}, {g.cores, "≤ %.1f cores"}, {g.mb, "≤ %.0f MB"}} {
		if limit.value > 0 {
			all = append(all, fmt.Sprintf(limit.format, limit.value))
		}
	}
	return strings.Join(all, ", ")
}
