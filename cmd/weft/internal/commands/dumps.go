// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"

	"github.com/weft-otel/weft/agent/attach"
)

// maxDumps bounds the thread dumps of a command.
const maxDumps = 1000

// dumpOptions are the flags of a recording that consists of thread dumps.
type dumpOptions struct {
	count    int // 0: the agent records
	interval time.Duration
}

func (o *dumpOptions) addFlags(flags *pflag.FlagSet) (interval *time.Duration) {
	flags.IntVar(&o.count, "dumps", 0, "load no agent: let the JVM print this many thread dumps, and record\nthese")
	return durationFlag(flags, "interval", "", 5*time.Second, "with --dumps, the time from one to the next")
}

// check reports flags that cannot work together.
func (o *dumpOptions) check(flags *pflag.FlagSet, options []string) error {
	switch {
	case flags.Changed("dumps") && (o.count < 1 || o.count > maxDumps):
		return usagef("invalid --dumps %d: want 1 to %d", o.count, maxDumps)
	case o.count == 0 && flags.Changed("interval"):
		return usagef("--interval needs --dumps")
	case o.count > 0 && len(options) > 0:
		return usagef("%q: options are for the agent, which --dumps does not load", options[0])
	case o.count > 0:
		for _, name := range []string{"duration", "agent"} {
			if flags.Changed(name) {
				return usagef("--dumps loads no agent and ends with the last dump: leave out --%s", name)
			}
		}
	}
	return nil
}

// recordDumps records thread dumps of a JVM and prints their summary.
func (p *Program) recordDumps(ctx context.Context, word string, o *recordOptions) error {
	jvm, err := o.choice.find(ctx, word, nil)
	if err != nil {
		return err
	}
	if o.out == "" {
		o.out = fmt.Sprintf("%s-%s.txt", fileName(&jvm), time.Now().Format("20060102-150405"))
	}
	var early error // why there are fewer than requested
	err = createFile(o.out, o.force, func(w io.Writer) error {
		written, err := p.writeDumps(ctx, jvm.PID, &atMost{out: w, left: o.maxBytes}, o)
		if written == 0 {
			return err
		}
		early = err
		return nil
	})
	if err != nil {
		return err
	}
	return errors.Join(early, p.answer(ctx, o))
}

// writeDumps writes the dumps and returns how many are complete. Ctrl-C and the end of the JVM end a recording without an error.
func (p *Program) writeDumps(ctx context.Context, pid int, out io.Writer, o *recordOptions) (int, error) {
	line := p.line()
	defer line.Clear()
	next := time.NewTimer(0)
	defer next.Stop()
	for i := range o.dumps.count {
		line.Of("waiting for thread dumps, ctrl-C ends it", int64(i), int64(o.dumps.count))
		select {
		case <-ctx.Done():
			if i > 0 {
				return i, nil
			}
			return 0, errors.New("interrupted before the first thread dump")
		case <-next.C:
		}
		next.Reset(o.dumps.interval)
		err := writeDump(ctx, pid, out, o.timeout)
		switch {
		case err != nil && i > 0 && (ctx.Err() != nil || errors.Is(err, attach.ErrNoProcess)):
			return i, nil
		case err != nil:
			return i, err
		}
	}
	return o.dumps.count, nil
}

// writeDump writes a dump as the JVM prints it and, before it, what jcmd prints: the ID of the process.
func writeDump(ctx context.Context, pid int, out io.Writer, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if _, err := fmt.Fprintf(out, "%d:\n", pid); err != nil {
		return err
	}
	return attach.Dump(ctx, pid, out)
}

// atMost is a writer with a limit.
type atMost struct {
	out  io.Writer
	left int64 // bytes
}

func (a *atMost) Write(b []byte) (int, error) {
	if int64(len(b)) > a.left {
		return 0, errors.New("the thread dumps exceed --max-size; raise it, or take fewer")
	}
	n, err := a.out.Write(b)
	a.left -= int64(n)
	return n, err
}

// orDumps adds to the reason why a JVM cannot be recorded that thread dumps can, if it prints them. A wrong option is the user's to correct.
func orDumps(pid int, err error) error {
	refused := new(attach.AgentError)
	if errors.As(err, &refused) || errors.Is(err, attach.ErrTimeout) || attach.CanDump(pid) != nil {
		return err
	}
	return errors.Join(err, fmt.Errorf("thread dumps need no agent: weft record %d --dumps 3", pid))
}
