// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-otel/weft/internal/page"
	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/why"
)

const whyLong = `Prints why a thread took so long, in words: what it did and, while it was stopped, what the threads did
that it waited for. The times of the steps add up to the whole time.

Without --thread, it explains the thread that waited longest for others. Times are offsets from the
start of the recording, such as 12.5s, from its end, such as -30s, or times such as
2026-11-21T16:50:00Z.

FILE is a recording, as of weft view. If it contains several JVMs, --session chooses one.`

const whyExample = `  weft why orders.weft
  weft why orders.weft --thread matcher-1 --from 2s --to 2.4s`

// whyOptions are the flags of weft why.
type whyOptions struct {
	thread, from, to, session string
	format                    format
	unpacked                  int
}

func (p *Program) why() *cobra.Command {
	var o whyOptions
	cmd := &cobra.Command{
		Use: "why [flags] FILE", Short: "Print why a thread took so long", Long: whyLong, Example: whyExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("want one recording")
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.thread, "thread", "t", "", "ID, name, or a part of the name of the thread (default: the one that\nwaited longest for others)")
	flags.StringVar(&o.from, "from", "", "start of the time to explain (default: that of the recording)")
	flags.StringVar(&o.to, "to", "", "end of the time to explain (default: that of the recording)")
	flags.StringVar(&o.session, "session", "", "start of the ID of the session, if the recording contains several")
	flags.IntVar(&o.unpacked, "max-unpacked", recording.DefaultMaxUnpacked>>30, "read at most this many gibibytes of a compressed file, decompressed")
	shown := formatFlag(flags, "text for people, or data for programs")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.format = *shown
		if o.unpacked < 1 || o.unpacked > 1<<20 {
			return usagef("invalid --max-unpacked %d: want 1 to %d gibibytes", o.unpacked, 1<<20)
		}
		if err := why.CheckTimes(o.from, o.to); err != nil {
			return usageError{err}
		}
		if files, err := areFiles(args); err != nil || !files {
			return fmt.Errorf("%s: no such file", printable.Text(args[0]))
		}
		ctx, stop := interruptible(cmd.Context())
		defer stop()
		return p.explain(ctx, args[0], &o)
	}
	return cmd
}

func (p *Program) explain(ctx context.Context, file string, o *whyOptions) error {
	view, problems := p.readAll(ctx, []string{file}, &readOptions{unpacked: int64(o.unpacked) << 30})
	if view == nil {
		return problems
	}
	defer view.Close(context.WithoutCancel(ctx))
	client := page.Of(view.Handler())
	session, err := chooseSession(ctx, client, o.session)
	if err != nil {
		return err
	}
	if session.From >= session.To {
		return errors.Join(problems, errMoment)
	}
	query := url.Values{}
	if o.from != "" || o.to != "" {
		from, to, err := why.Range(session, o.from, o.to)
		if err != nil {
			return usageError{err}
		}
		query.Set("from", strconv.FormatInt(from, 10))
		query.Set("to", strconv.FormatInt(to, 10))
	}
	if o.thread != "" {
		thread, err := why.Thread(ctx, client, session.ID, o.thread)
		if err != nil {
			return err
		}
		query.Set("thread", strconv.FormatUint(thread.ID, 10))
	}
	answer, err := client.Why(ctx, session.ID, query)
	if err != nil {
		return err
	}
	if o.format == formatJSON {
		return errors.Join(why.PrintJSON(p.Out, &answer), problems)
	}
	return errors.Join(why.Print(p.Out, &answer, p.width()), problems)
}

// chooseSession returns the session whose ID begins with a text, or the only one.
func chooseSession(ctx context.Context, client *page.Client, start string) (*viewapi.Session, error) {
	list, err := client.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	var found []*viewapi.Session
	var ids []string
	for i := range list.Sessions {
		s := &list.Sessions[i]
		if strings.HasPrefix(s.ID, start) {
			found = append(found, s)
		}
		ids = append(ids, s.ID[:8]+" ("+printable.Text(s.Service)+")")
	}
	switch {
	case len(found) == 0:
		return nil, usagef("no session begins with %q: there are %s", start, strings.Join(ids, ", "))
	case len(found) > 1:
		return nil, usagef("there are %d sessions: choose one with --session: %s", len(list.Sessions), strings.Join(ids, ", "))
	}
	return found[0], nil
}

var errMoment = errors.New("the recording has no two events at different times, so there is nothing to explain")
