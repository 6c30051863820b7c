// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/weft-otel/weft/agent/attach"
)

// The ways in which the JVM of a look runs.
const (
	alone     = "alone"
	withAgent = "with the agent" // which sends to the sink
	underTop  = "under weft top"
)

const (
	lookTime     = 3 * time.Second // of each way in a round
	lookPatience = 30 * time.Second
)

// looks is the section of a first look: how long weft top takes until it attaches, and what it costs the JVM.
type looks struct {
	jdks    []jdk
	classes string
	library string
	socket  string
	before  []float64            // ns from the start of weft top until it attaches
	cpu     map[string][]float64 // ns of a handover, by JDK and way
	loads   []float64
}

func (l *looks) begin(ctx context.Context, o *options) (err error) {
	if err := errors.Join(need("build/weft", "build"), need("build/libweft.so", "build")); err != nil {
		return err
	}
	if l.jdks, err = findJDKs(ctx); err != nil {
		return err
	}
	if l.library, err = filepath.Abs("build/libweft.so"); err != nil {
		return err
	}
	l.socket, l.cpu = filepath.Join(o.dir, "look"), make(map[string][]float64)
	if _, err = newSink(l.socket); err != nil {
		return err
	}
	l.classes, err = l.jdks[0].compile(ctx, o, ".", "bench/speed/look/Handover.java")
	return err
}

func (l *looks) round(ctx context.Context) error {
	for _, j := range l.jdks {
		if err := l.look(ctx, j); err != nil {
			return fmt.Errorf("java %s: %w", j.version, err)
		}
	}
	l.loads = append(l.loads, busy())
	return nil
}

// look measures one JVM in all ways.
func (l *looks) look(ctx context.Context, j jdk) (err error) {
	h, err := startHandover(j.java(ctx, &variant{}, "-Xmx256m", "-XX:+UseSerialGC", "-cp", l.classes, "Handover"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.stop()) }()
	if _, err := h.measure(ctx); err != nil { // compiles the code
		return err
	}
	for way, begin := range map[string]func(context.Context, int) (func() error, error){alone: leaveAlone, withAgent: l.attach, underTop: l.top} {
		end, err := begin(ctx, h.cmd.Process.Pid)
		if err != nil {
			return fmt.Errorf("%s: %w", way, err)
		}
		cpu, err := h.measure(ctx)
		if err := errors.Join(err, end()); err != nil {
			return fmt.Errorf("%s: %w", way, err)
		}
		l.cpu[j.version+way] = append(l.cpu[j.version+way], cpu)
		fmt.Fprintf(os.Stderr, "Java %s %s: CPU %v a handover\n", j.version, way, time.Duration(cpu))
	}
	return nil
}

func leaveAlone(context.Context, int) (end func() error, err error) {
	return func() error { return nil }, nil
}

func (l *looks) attach(ctx context.Context, pid int) (end func() error, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	_, err = attach.Attach(ctx, attach.Request{PID: pid, Library: l.library, Options: []string{"endpoint=unix://" + l.socket}})
	return func() error {
		_, err := attach.Detach(context.WithoutCancel(ctx), pid)
		return err
	}, err
}

// top starts weft top, which creates a socket for the agent right before it attaches.
func (l *looks) top(ctx context.Context, pid int) (end func() error, err error) {
	const sockets = "/tmp/.weft-*.sock"
	old, err := filepath.Glob(sockets)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "build/weft", "top", strconv.Itoa(pid), "--once", "--window=1h", "--agent="+l.library)
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	end = func() error { return errors.Join(cmd.Process.Signal(os.Interrupt), cmd.Wait()) }
	created := func() bool {
		now, _ := filepath.Glob(sockets) // the pattern is valid
		return slices.ContainsFunc(now, func(path string) bool { return !slices.Contains(old, path) })
	}
	if err := until(ctx, created); err != nil {
		return end, errors.Join(err, end())
	}
	l.before = append(l.before, float64(time.Since(began)))
	connected := func() bool {
		report, err := attach.Ask(ctx, pid)
		return err == nil && report.Connection != ""
	}
	if err := until(ctx, connected); err != nil {
		return end, errors.Join(err, end())
	}
	return end, nil
}

// until polls each millisecond.
func until(ctx context.Context, done func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	for !done() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}

func (l *looks) rows() (table []line) {
	load := medianOf(l.loads, itself)
	const most = 300e6
	start := medianOf(l.before, itself)
	table = append(table, line{
		what: fmt.Sprintf("`weft top` until it attaches (n=%d)", len(l.before)), weft: fmt.Sprintf("%.0f ms", start/1e6), goal: "< 300 ms", met: start < most, load: load,
	})
	for _, j := range l.jdks {
		times := func(way string) []float64 { return l.cpu[j.version+way] }
		ratio := ratioOf(times(underTop), times(withAgent), itself)
		const equal = 1.05
		table = append(table, line{
			what: fmt.Sprintf("Java %s under `weft top`: CPU of the JVM", j.version),
			anchor: fmt.Sprintf("alone %.3g µs a handover of a lock; with the agent alone %.2f times as much", medianOf(times(alone), itself)/1e3,
				ratioOf(times(withAgent), times(alone), itself)),
			weft:  fmt.Sprintf("%.2f times", ratioOf(times(underTop), times(alone), itself)),
			ratio: ratio, goal: "as with the agent: ≤ 1.05", met: ratio <= equal, load: load,
		})
	}
	return table
}

// handover is a JVM that runs Handover.
type handover struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startHandover(cmd *exec.Cmd) (*handover, error) {
	h := &handover{cmd: cmd}
	var err error
	if h.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	h.out = bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := h.out.ReadString('\n'); err != nil {
		return nil, errors.Join(err, h.stop())
	}
	return h, nil
}

// stop ends the JVM.
func (h *handover) stop() error {
	return errors.Join(h.in.Close(), h.cmd.Wait())
}

// measure returns the CPU time of a handover in ns, for the next seconds.
func (h *handover) measure(ctx context.Context) (float64, error) {
	count, cpu, err := h.now()
	if err != nil {
		return 0, err
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(lookTime):
	}
	countThen, cpuThen, err := h.now()
	if err == nil && countThen == count {
		err = errors.New("the lock was never handed over")
	}
	return (cpuThen - cpu) / (countThen - count), err
}

func (h *handover) now() (count, cpu float64, err error) {
	if _, err := io.WriteString(h.in, "\n"); err != nil {
		return 0, 0, err
	}
	line, err := h.out.ReadString('\n')
	if err == nil {
		_, err = fmt.Sscan(line, &count, &cpu)
	}
	return count, cpu, err
}
