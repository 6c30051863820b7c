// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-otel/weft/agent/attach"
	"github.com/weft-otel/weft/internal/recording"
)

const recordLong = `Loads the agent into a running JVM, records for some seconds, stops the agent, and prints what cost
the most: the summary of the recording. Ctrl-C or the end of the JVM ends the recording early.

The recording contains every wait with its stack; open it with weft view.

With --dumps, no agent is loaded: the JVM prints thread dumps, as for jstack -l, which show what does
not move, and who holds what. Any tool for thread dumps reads the file.`

const recordExample = `  weft record 4711
  weft record orders -d 2m -o orders.weft
  weft record 4711 virtual=exact        with an option of the agent
  weft record 4711 --dumps 3            three thread dumps, 5 s apart, without the agent`

// recordOptions are the flags of a recording.
type recordOptions struct {
	choice   choice
	agent    string
	options  []string
	duration time.Duration
	timeout  time.Duration
	out      string
	force    bool
	maxBytes int64
	dumps    dumpOptions
	summary  summaryOptions
}

// Limits of a recording by the agent, in bytes.
const (
	defaultRecording = 256 << 20
	minRecording     = 1 << 20
	maxRecording     = 1 << 30
)

// Limits of the duration that the agent takes, and by how much it exceeds that of the recording.
const (
	spare       = 30 * time.Second
	maxDuration = 24 * time.Hour
)

func (p *Program) record() *cobra.Command {
	o := recordOptions{maxBytes: defaultRecording}
	cmd := &cobra.Command{
		Use: "record [flags] PID|NAME [KEY=VALUE...]", Short: "Record a JVM, and print what costs the most", Long: recordLong, Example: recordExample,
		Args: needsOne(noJVM), ValidArgsFunction: completeJVMs,
	}
	flags := cmd.Flags()
	o.choice.addFlags(flags, false)
	duration := durationFlag(flags, "duration", "d", 30*time.Second, "how long to record")
	flags.StringVarP(&o.out, "output", "o", "", "file for the recording (default NAME-TIME.weft, with --dumps\nNAME-TIME.txt)")
	flags.BoolVarP(&o.force, "force", "f", false, "replace the file if it exists")
	flags.Var((*size)(&o.maxBytes), "max-size", "size limit of the recording, 1m to 1g; what does not fit is counted")
	flags.StringVar(&o.agent, "agent", "", "the agent library (default: the one in this program, for the platform\nof the JVM)")
	timeout := durationFlag(flags, "timeout", "", 10*time.Second, "how long to wait for the JVM")
	interval := o.dumps.addFlags(flags)
	flags.IntVar(&o.summary.top, "top", 10, "show at most this many rows per table")
	shown := formatFlag(flags, "the summary as tables for people, or all data for programs")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		o.duration, o.timeout, o.dumps.interval, o.summary.format = *duration, *timeout, *interval, *shown
		if o.options, err = agentOptions(args[1:]); err != nil {
			return err
		}
		if err := errors.Join(o.check(), o.dumps.check(flags, o.options)); err != nil {
			return err
		}
		ctx, stop := interruptible(cmd.Context())
		defer stop()
		if o.dumps.count > 0 {
			return p.recordDumps(ctx, args[0], &o)
		}
		return p.recordJVM(ctx, args[0], &o)
	}
	return cmd
}

// check reports flags that cannot work.
func (o *recordOptions) check() error {
	switch {
	case o.summary.top < 1:
		return usagef("invalid --top %d: want 1 or more", o.summary.top)
	case o.maxBytes < minRecording || o.maxBytes > maxRecording:
		return usagef("invalid --max-size %d: want 1m to 1g", o.maxBytes)
	}
	if _, err := os.Lstat(o.out); o.out != "" && err == nil && !o.force {
		return fmt.Errorf("%s exists; replace it with --force, or use another name", o.out)
	}
	return nil
}

func (p *Program) recordJVM(ctx context.Context, word string, o *recordOptions) error {
	return p.recorded(ctx, word, o, func(jvm *attach.JVM, file *os.File) error {
		if o.out == "" {
			o.out = fmt.Sprintf("%s-%s.weft", fileName(jvm), time.Now().Format("20060102-150405"))
		}
		if err := copyTo(o.out, file, o.force); err != nil {
			return err
		}
		return p.answer(ctx, o)
	})
}

// recorded records a JVM and calls use with the recording, which is removed afterwards.
func (p *Program) recorded(ctx context.Context, word string, o *recordOptions, use func(jvm *attach.JVM, file *os.File) error) error {
	attaching, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	jvm, err := o.choice.find(attaching, word, o.options)
	if err != nil {
		return err
	}
	file, err := attach.CreateRecording(attaching, jvm.PID)
	if err != nil {
		return orDumps(jvm.PID, err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	options := []string{"file=" + file.Path, "file-size=" + strconv.FormatInt(o.maxBytes, 10)}
	if limit := o.duration + spare; limit <= maxDuration { // in case that this program is killed
		options = append(options, "duration="+strconv.FormatInt(int64(limit), 10)+"ns")
	}
	options = append(options, o.options...)
	result, err := begin(attaching, jvm.PID, o.agent, options)
	if err != nil {
		return orDumps(jvm.PID, err)
	}
	file.Unlink()
	if !isConnected(&result) {
		return errors.Join(fmt.Errorf("process %d: %s", jvm.PID, result.Connection), detach(jvm.PID))
	}
	p.waitFor(ctx, jvm.PID, o.duration)
	if err := detach(jvm.PID); err != nil {
		return err
	}
	return use(&jvm, file.File)
}

// waitFor waits for the end of a recording: after a time, by ctrl-C, or because the JVM ends.
func (p *Program) waitFor(ctx context.Context, pid int, duration time.Duration) {
	ctx, stop := interruptible(ctx)
	defer stop()
	line := p.line()
	defer line.Clear()
	began := time.Now()
	end := time.NewTimer(duration)
	defer end.Stop()
	look := time.NewTicker(250 * time.Millisecond)
	defer look.Stop()
	for alive(pid) {
		line.Of("recording, ctrl-C ends it", int64(time.Since(began)), int64(duration))
		select {
		case <-ctx.Done():
			return
		case <-end.C:
			return
		case <-look.C:
		}
	}
}

// alive reports whether a process exists.
func alive(pid int) bool {
	_, err := os.Stat("/proc/" + strconv.Itoa(pid))
	return !errors.Is(err, fs.ErrNotExist)
}

// fileName is the name of a JVM as part of a file name.
func fileName(jvm *attach.JVM) string {
	name := []byte(filepath.Base(jvm.MainClass))
	if dot := lastWord(string(name)); dot > 0 {
		name = name[dot:]
	}
	for i, c := range name {
		if !isWord(rune(c)) {
			name[i] = '_'
		}
	}
	const most = 40
	if len(name) == 0 || string(name) == "_" {
		return "jvm-" + strconv.Itoa(jvm.PID)
	}
	return string(name[:min(len(name), most)])
}

// isWord reports whether a character is safe in names of files and in shells.
func isWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
}

// lastWord is where the simple name of a class begins, or 0 for the name of a jar.
func lastWord(name string) int {
	if filepath.Ext(name) == ".jar" {
		return 0
	}
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '.' {
			return i + 1
		}
	}
	return 0
}

// copyTo copies a recording to a file.
func copyTo(path string, from *os.File, force bool) error {
	return createFile(path, force, func(w io.Writer) error {
		_, err := io.Copy(w, io.NewSectionReader(from, 0, maxRecording+1<<20))
		return err
	})
}

// createFile writes a file, which is complete or not there.
func createFile(path string, force bool, write func(w io.Writer) error) (err error) {
	out, err := os.CreateTemp(filepath.Dir(path), ".weft-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(out.Name())
		}
	}()
	if err := write(out); err != nil {
		return errors.Join(err, out.Close())
	}
	if err := out.Close(); err != nil {
		return err
	}
	if force {
		return os.Rename(out.Name(), path)
	}
	if err := os.Link(out.Name(), path); err != nil { // fails if it exists, unlike a rename
		return err
	}
	return os.Remove(out.Name())
}

// answer prints the summary of a recording, and how to see more.
func (p *Program) answer(ctx context.Context, o *recordOptions) error {
	info, err := os.Stat(o.out)
	if err != nil {
		return err
	}
	o.summary.unpacked = recording.DefaultMaxUnpacked
	err = p.summarize(ctx, []string{o.out}, &o.summary)
	if o.summary.format == formatText {
		fmt.Fprintf(p.Err, "\nRecorded %.1f MB. See more with: weft view %s\n", float64(info.Size())/1e6, quoted(o.out))
	}
	return err
}
