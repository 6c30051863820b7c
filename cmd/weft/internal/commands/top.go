// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-otel/weft/cmd/weft/internal/top"
	"github.com/weft-otel/weft/internal/page"
	"github.com/weft-otel/weft/internal/viewapi"
)

const topLong = `Shows live who waits for what, held by whom and where: the answer in a sentence, deadlocks, the threads
that wait now, the methods that waited, locks, threads and incidents. Press ? for the keys, q to quit.
Then the agent is stopped.

Without a terminal, or with --once, it watches for the time of --window and prints one screen as text.`

const topExample = `  weft top 4711
  weft top orders virtual=exact         with an option of the agent
  weft top 4711 --once --window 5s`

// topHistory is what the screen keeps in memory.
const topHistory = 256 << 20

// snapshot is what top shows, in --format json.
type snapshot struct {
	Session viewapi.Session `json:"session"`
	Answer  viewapi.Answer  `json:"answer"`
	Waiting viewapi.Waiting `json:"waiting"`
	Callers viewapi.Callers `json:"callers"`
	Locks   viewapi.Locks   `json:"locks"`
}

func (p *Program) top() *cobra.Command {
	o := liveOptions{maxBytes: topHistory}
	cmd := &cobra.Command{
		Use: "top [flags] PID|NAME [KEY=VALUE...]", Short: "Show live who waits for what, and who is in the way", Long: topLong, Example: topExample,
		Args: needsOne(noJVM), ValidArgsFunction: completeJVMs,
	}
	flags := cmd.Flags()
	o.choice.addFlags(flags, false)
	once := flags.Bool("once", false, "print one screen as text")
	interval := durationFlag(flags, "interval", "", time.Second, "time between refreshes")
	window := durationFlag(flags, "window", "w", 10*time.Second, "time of the sums and rates")
	flags.StringVar(&o.agent, "agent", "", "the agent library (default: the one in this program, for the platform\nof the JVM)")
	timeout := durationFlag(flags, "timeout", "", 10*time.Second, "how long to wait for the JVM")
	shown := formatFlag(flags, "a screen for people, or once all data for programs")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		o.timeout = *timeout
		if o.options, err = agentOptions(args[1:]); err != nil {
			return err
		}
		ctx, stop := interruptible(cmd.Context())
		defer stop()
		l, err := p.watch(ctx, args[0], &o)
		if err != nil {
			return err
		}
		defer l.close()
		client := page.Of(l.page.Handler())
		if *once || *shown == formatJSON || !isTerminal(p.rawOut) {
			p.waitFor(ctx, l.jvm.PID, *window)
			return p.screen(context.WithoutCancel(ctx), client, l, *window, *shown)
		}
		return top.Run(ctx, client, l.session, top.Options{
			Title: title(&l.jvm), In: p.In, Out: p.rawOut, Interval: *interval, Window: *window, Notes: l.notes,
		})
	}
	return cmd
}

// screen prints what top would show.
func (p *Program) screen(ctx context.Context, client *page.Client, l *live, window time.Duration, f format) (err error) {
	session := l.session
	if f == formatText {
		return top.Print(ctx, client, session, top.Options{Title: title(&l.jvm), Out: p.Out, Window: window}, p.width())
	}
	var s snapshot
	if s.Session, err = client.Session(ctx, session); err != nil {
		return err
	}
	if s.Answer, err = client.Answer(ctx, session, nil); err != nil {
		return err
	}
	if s.Waiting, err = client.Waiting(ctx, session, nil); err != nil {
		return err
	}
	if s.Callers, err = client.Callers(ctx, session, page.Query{"sort": {"stats.time"}, "order": {"desc"}}); err != nil {
		return err
	}
	if s.Locks, err = client.Locks(ctx, session, page.Query{"contended": {"true"}}); err != nil {
		return err
	}
	return p.writeJSON(s)
}
