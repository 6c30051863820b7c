// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-otel/weft/agent/attach"
	"github.com/weft-otel/weft/cmd/weft/internal/profiles"
	"github.com/weft-otel/weft/cmd/weft/internal/replay"
	"github.com/weft-otel/weft/cmd/weft/internal/units"
	"github.com/weft-otel/weft/internal/engine/profile"
	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/formats"
	"github.com/weft-otel/weft/internal/stackprofile"
	"github.com/weft-otel/weft/internal/wording"
)

const profileLong = `Writes a profile of a recording, or of a running JVM after recording it: which stacks waited, how
often and for how long.

  block    waits for locks, permits and connections, by the stack of the thread that waited
  mutex    the same waits, by what the thread did that held the lock meanwhile
  off-cpu  all waits, by the stack of the thread that waited; sleeps and threads without work
           only with --idle

OUT is in the format of pprof, or has collapsed stacks if its name ends in .collapsed; go tool
pprof, speedscope, Grafana and the Firefox Profiler read the first one, flame graph scripts the
second one. The stacks of holders are known where these wait themselves; with owner-stacks=on, the
agent also records where they run.`

const profileExample = `  weft profile orders.weft --type mutex -o mutex.pb.gz && go tool pprof -http=: mutex.pb.gz
  weft profile orders -d 1m owner-stacks=on       record a JVM for a minute
  weft profile shop.jfr --type off-cpu -o - --format collapsed | flamegraph.pl > waits.svg`

// profileOptions are the flags of a profile.
type profileOptions struct {
	request  profiles.Request
	out      string
	format   string
	force    bool
	span     replay.Span
	unpacked int64 // bytes
	record   recordOptions
}

// family is the value of --type.
type family profile.Family

func (f *family) String() string { return strings.ReplaceAll(profile.Family(*f).String(), "_", "-") }

// Type is what help shows as the value.
func (*family) Type() string { return "block|mutex|off-cpu" }

// Set accepts the families.
func (f *family) Set(text string) error {
	for i := range profile.NumFamilies {
		if got := family(i); got.String() == text {
			*f = got
			return nil
		}
	}
	return errors.New("want block, mutex or off-cpu")
}

func (p *Program) profile() *cobra.Command {
	o := profileOptions{record: recordOptions{maxBytes: defaultRecording}}
	cmd := &cobra.Command{
		Use: "profile [flags] FILE|PID|NAME [KEY=VALUE...]", Short: "Write a profile of waits, for pprof and flame graphs", Long: profileLong,
		Example: profileExample, ValidArgsFunction: completeJVMs,
		Args: needsOne("nothing to profile: want a recording, or a process ID or a part of a main class"),
	}
	flags := cmd.Flags()
	flags.Var((*family)(&o.request.Family), "type", "which waits, and by whose stacks")
	flags.BoolVar(&o.request.Idle, "idle", false, "with off-cpu, include sleeps and the waits of threads without work")
	flags.StringVarP(&o.out, "output", "o", "", "OUT; - is standard output (default NAME-TYPE.pb.gz)")
	flags.Var((*profileFormat)(&o.format), "format", "format of OUT (default: by its suffix)")
	flags.BoolVarP(&o.force, "force", "f", false, "replace OUT if it exists")
	flags.Var((*instant)(&o.span.From), "from", "of recordings, only use events at or after this time\n(2026-11-21T16:50:00Z)")
	flags.Var((*instant)(&o.span.To), "to", "of recordings, only use events before this time")
	o.record.choice.addFlags(flags, false)
	duration := durationFlag(flags, "duration", "d", 30*time.Second, "how long to record a JVM")
	timeout := durationFlag(flags, "timeout", "", 10*time.Second, "how long to wait for the JVM")
	flags.StringVar(&o.record.agent, "agent", "", "the agent library (default: the one in this program, for the platform\nof the JVM)")
	unpacked := flags.Int("max-unpacked", recording.DefaultMaxUnpacked>>30, "read at most this many gibibytes of a compressed file, decompressed")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		o.record.duration, o.record.timeout = *duration, *timeout
		if err := o.check(*unpacked); err != nil {
			return err
		}
		ctx, stop := interruptible(cmd.Context())
		defer stop()
		files, err := isRecording(args[0])
		switch {
		case err != nil:
			return err
		case files && len(args) > 1:
			return usagef("%q: options are for the agent in a running JVM, and %s is a file", args[1], args[0])
		case files:
			tuneForReading()
			return p.profileFile(ctx, args[0], &o)
		}
		if o.record.options, err = agentOptions(args[1:]); err != nil {
			return err
		}
		return p.profileJVM(ctx, args[0], &o)
	}
	return cmd
}

// isRecording reports whether a word is a file or standard input, and not a JVM.
func isRecording(word string) (bool, error) {
	if word == "-" {
		return true, nil
	}
	return areFiles([]string{word})
}

// check reports flags that cannot work.
func (o *profileOptions) check(gibibytes int) error {
	const most = 1 << 20 // a pebibyte
	switch {
	case gibibytes < 1 || gibibytes > most:
		return usagef("invalid --max-unpacked %d: want 1 to %d gibibytes", gibibytes, most)
	case !o.span.Valid():
		return usagef("--from %s must be before --to %s", o.span.From.Format(time.RFC3339Nano), o.span.To.Format(time.RFC3339Nano))
	case o.request.Idle && o.request.Family != profile.OffCPU:
		return usagef("--idle needs --type off-cpu: a thread without work does not wait for a lock")
	}
	o.unpacked = int64(gibibytes) << 30
	if o.format == "" {
		o.format = formatPprof
		if ext := filepath.Ext(o.out); ext == suffixes[formatCollapsed] || ext == ".folded" {
			o.format = formatCollapsed
		}
	}
	if _, err := os.Lstat(o.out); o.out != "" && o.out != "-" && err == nil && !o.force {
		return fmt.Errorf("%s exists; replace it with --force, or use another name", o.out)
	}
	return nil
}

// The formats of profiles.
const formatPprof, formatCollapsed = "pprof", "collapsed"

var suffixes = map[string]string{formatPprof: ".pb.gz", formatCollapsed: ".collapsed"}

// profileFormat is the value of --format.
type profileFormat string

func (f *profileFormat) String() string { return string(*f) }

// Type is what help shows as the value.
func (*profileFormat) Type() string { return formatPprof + "|" + formatCollapsed }

// Set accepts the formats.
func (f *profileFormat) Set(text string) error {
	if suffixes[text] == "" {
		return fmt.Errorf("want %s or %s", formatPprof, formatCollapsed)
	}
	*f = profileFormat(text)
	return nil
}

func (p *Program) profileJVM(ctx context.Context, word string, o *profileOptions) error {
	return p.recorded(ctx, word, &o.record, func(jvm *attach.JVM, file *os.File) error {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		return p.writeProfile(replay.Source{Name: file.Name(), Path: file.Name(), Reader: file}, fileName(jvm), o)
	})
}

func (p *Program) profileFile(ctx context.Context, name string, o *profileOptions) error {
	g := replay.Gather(ctx, []string{name}, &replay.Options{Stdin: p.In, Span: o.span, MaxUnpacked: o.unpacked})
	defer g.Close()
	p.note(g.Notes...)
	source, err := g.One()
	if source == nil {
		return err
	}
	base := "weft"
	if name != "-" {
		base, _ = formats.CutCompression(filepath.Base(filepath.Clean(name)))
		base = strings.TrimSuffix(base, filepath.Ext(base))
	}
	return errors.Join(p.writeProfile(*source, base, o), err)
}

// writeProfile reads a source and writes its profile.
func (p *Program) writeProfile(source replay.Source, name string, o *profileOptions) error {
	source.MaxUnpacked = o.unpacked
	stop := p.line().Watch(func() (string, int64, int64) { return reading([]replay.Source{source}) })
	got, readErr := profiles.Read(source, o.request)
	stop()
	if got == nil {
		return readErr
	}
	write := stackprofile.WritePprof
	if o.format == formatCollapsed {
		write = stackprofile.WriteCollapsed
	}
	if o.out == "-" {
		return errors.Join(write(p.rawOut, got), readErr)
	}
	if o.out == "" {
		o.out = name + "-" + (*family)(&o.request.Family).String() + suffixes[o.format]
	}
	if err := createFile(o.out, o.force, func(w io.Writer) error { return write(w, got) }); err != nil {
		return errors.Join(err, readErr)
	}
	return errors.Join(p.describe(got, o), readErr)
}

// describe says what was written, and how to open it.
func (p *Program) describe(got *stackprofile.Profile, o *profileOptions) error {
	sum := got.Total()
	_, err := fmt.Fprintf(p.Out, "%s: %s in %s, %s\n", printable.Text(o.out), wording.Plural(sum.Count, "wait"),
		wording.Plural(len(got.Stacks), "stack"), units.Human(sum.Time))
	if o.format == formatPprof && err == nil {
		_, err = fmt.Fprintf(p.Err, "Open it with: go tool pprof -http=: %s\n", quoted(o.out))
	}
	return err
}

// instant is a point in time as the value of a flag.
type instant time.Time

func (t *instant) String() string {
	if at := time.Time(*t); !at.IsZero() {
		return at.Format(time.RFC3339Nano)
	}
	return ""
}

// Type is what help shows as the value.
func (*instant) Type() string { return "time" }

// Set accepts times as in RFC 3339.
func (t *instant) Set(text string) error {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return errors.New("want a time such as 2026-11-21T16:50:00Z")
	}
	*t = instant(at)
	return nil
}
