// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-otel/weft/cmd/weft/internal/browser"
	"github.com/weft-otel/weft/cmd/weft/internal/local"
	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/recording"
)

const viewLong = `Serves the page: all threads over time, who waited for whom and why, the critical path, and statistics
of locks. It prints the address, opens the browser, and ends with ctrl-C. Only this machine can
connect; the token in the address keeps its other users out.

FILE is a recording: a .jfr of JDK 11 or later, a file that an agent or weft record wrote, an ORCA
log, a TPTP trace or triples; also compressed, in a folder or archive. It may also be the spans of a
collector as OTLP JSON (spans.json): the page then lacks the waits without a span, and says how many
there are. With a process ID, or a part of a main class, the page shows a running JVM live; the agent
is stopped at the end. Assistants can ask the same server, at the path mcp of its address (weft mcp).

weft FILE alone does the same.`

const viewExample = `  weft view orders.weft
  weft shop.jfr
  weft view spans.json
  weft view 4711 virtual=exact          live, with an option of the agent`

// viewOptions are the flags of the page.
type viewOptions struct {
	live     liveOptions
	address  string
	browser  bool
	format   string
	unpacked int
}

// defaultHistory is what the page keeps in memory, at about 55 bytes per interval.
const defaultHistory = 1 << 30

func (p *Program) view() *cobra.Command {
	o := viewOptions{live: liveOptions{maxBytes: defaultHistory}}
	cmd := &cobra.Command{
		Use: "view [flags] FILE...|PID|NAME [KEY=VALUE...]", Short: "Show threads over time in the browser", Long: viewLong, Example: viewExample,
		Args: needsOne("nothing to view: want recordings, or a process ID or a part of a main class"),
	}
	flags := cmd.Flags()
	o.live.choice.addFlags(flags, false)
	flags.StringVar(&o.address, "listen", "127.0.0.1:0", "address of the page, by default with any free port")
	noControl := flags.Bool("no-control", false, "the page cannot change options of the agent")
	noBrowser := flags.Bool("no-browser", false, "do not open a browser")
	flags.StringVar(&o.format, "input", "", "format of the files: native, jfr, orca, tptp, triples, otlp or dump (default:\nwhat their content shows)")
	flags.IntVar(&o.unpacked, "max-unpacked", recording.DefaultMaxUnpacked>>30, "read at most this many gibibytes of a compressed file, decompressed")
	flags.Var((*size)(&o.live.maxBytes), "max-history", "memory for the history; the oldest part is dropped beyond it")
	flags.StringVar(&o.live.agent, "agent", "", "the agent library (default: the one in this program, for the platform\nof the JVM)")
	timeout := durationFlag(flags, "timeout", "", 10*time.Second, "how long to wait for the JVM")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		o.live.timeout, o.live.control, o.browser = *timeout, !*noControl, !*noBrowser
		if o.unpacked < 1 || o.unpacked > 1<<20 {
			return usagef("invalid --max-unpacked %d: want 1 to %d gibibytes", o.unpacked, 1<<20)
		}
		words, options, err := split(args)
		if err != nil {
			return err
		}
		files, err := areFiles(words)
		if err != nil {
			return err
		}
		ctx, stop := interruptible(cmd.Context())
		defer stop()
		if files {
			return p.viewFiles(ctx, words, &o)
		}
		o.live.options = options
		return p.viewJVM(ctx, words[0], &o)
	}
	return cmd
}

// areFiles reports whether the words are files, and not a JVM.
func areFiles(words []string) (bool, error) {
	if len(words) == 0 {
		return false, usagef("nothing to view: want recordings, or a process ID or a part of a main class")
	}
	for _, word := range words {
		_, err := os.Stat(word)
		switch {
		case err == nil:
			continue
		case !errors.Is(err, fs.ErrNotExist):
			return false, err
		case len(words) > 1 || strings.ContainsAny(word, "/") || isRecordingName(word):
			return false, fmt.Errorf("%s: no such file", printable.Text(word))
		}
		return false, nil
	}
	return true, nil
}

// isRecordingName reports whether a word looks like a file rather than a JVM.
func isRecordingName(word string) bool {
	for _, suffix := range []string{".weft", ".jfr", ".orca", ".trcxml", ".xml", ".txt", ".json", ".gz", ".zst", ".zip", ".tar", ".lz4", ".xz"} {
		if strings.HasSuffix(word, suffix) {
			return true
		}
	}
	return false
}

func (p *Program) viewFiles(ctx context.Context, files []string, o *viewOptions) error {
	options := readOptions{format: o.format, history: o.live.maxBytes, unpacked: int64(o.unpacked) << 30}
	view, err := p.newPage(&options)
	if err != nil {
		return err
	}
	defer view.Close(context.WithoutCancel(ctx))
	ctx, end := context.WithCancel(ctx)
	defer end()
	read := make(chan error, 1)
	go func() {
		err := p.readInto(ctx, view, files, &options)
		switch {
		case ctx.Err() != nil:
			err = nil
		case view.Sessions() == 0:
			err = cmp.Or(err, errNoEvents)
		case err != nil:
			fmt.Fprintf(p.Err, "weft: %v\n", err)
			err = nil
		}
		read <- err
	}()
	select {
	case <-view.Filled():
	case err := <-read:
		if err != nil || ctx.Err() != nil {
			return err
		}
		read <- nil
	}
	err = p.serve(ctx, view, o, "")
	end()
	return errors.Join(err, <-read)
}

func (p *Program) viewJVM(ctx context.Context, word string, o *viewOptions) error {
	l, err := p.watch(ctx, word, &o.live)
	if err != nil {
		return err
	}
	defer l.close()
	for _, note := range l.notes {
		fmt.Fprintf(p.Err, "weft: %s\n", printable.Text(note))
	}
	return p.serve(ctx, l.page, o, " of process "+strconv.Itoa(l.jvm.PID))
}

// serve serves a page until the context ends, prints its address, and opens a browser.
func (p *Program) serve(ctx context.Context, page *local.Page, o *viewOptions, what string) error {
	done := func() {}
	err := page.Serve(ctx, o.address, func(url string) {
		fmt.Fprintf(p.Out, "The page%s is at %s (ctrl-C ends it).\n", what, url)
		if !o.browser || !isTerminal(p.rawErr) {
			return
		}
		var err error
		if done, err = browser.Open(ctx, url); err != nil {
			fmt.Fprintf(p.Err, "weft: %v; open the address yourself\n", err)
		}
	})
	done()
	return err
}
