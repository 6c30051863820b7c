// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/weft-otel/weft/agent/attach"
	"github.com/weft-otel/weft/cmd/weft/internal/local"
	"github.com/weft-otel/weft/internal/page"
	"github.com/weft-otel/weft/internal/printable"
)

// live is a JVM whose agent sends to this program.
type live struct {
	jvm      attach.JVM
	page     *local.Page
	receiver *local.Receiver
	meeting  *attach.Meeting
	session  string
	notes    []string // of the agent
}

// liveOptions configure a live.
type liveOptions struct {
	choice   choice
	agent    string
	options  []string
	timeout  time.Duration
	maxBytes int64
	control  bool // the page can change the agent's options
}

// giveUp makes the agent stop by itself if this program could not stop it: killed, or interrupted before the JVM loaded the agent. It is longer
// than a user suspends a program to look something up.
const giveUp = "give-up=60s"

// liveWindow is how old the newest of what is shown of a live JVM is, at most.
const liveWindow = 500 * time.Millisecond

// watch attaches to a JVM. The caller closes the result.
func (p *Program) watch(ctx context.Context, word string, o *liveOptions) (_ *live, err error) {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	l := new(live)
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if l.jvm, err = o.choice.find(ctx, word, o.options); err != nil {
		return nil, err
	}
	if l.meeting, err = attach.Listen(ctx, l.jvm.PID); err != nil {
		return nil, err
	}
	logger := p.logger()
	pageOptions := local.PageOptions{Version: p.Version, MaxBytes: o.maxBytes, Window: liveWindow, Logger: logger}
	registry, err := local.NewRegistry(ctx)
	if err != nil {
		return nil, err
	}
	if o.control {
		pageOptions.Agents = registry
	}
	if l.page, err = local.NewPage(&pageOptions); err != nil {
		return nil, err
	}
	running := context.WithoutCancel(ctx)
	if l.receiver, err = local.Agents(running, l.meeting.Listener, registry, l.page, logger); err != nil {
		return nil, err
	}
	result, err := begin(ctx, l.jvm.PID, o.agent, append([]string{"endpoint=" + l.meeting.Endpoint, giveUp}, o.options...))
	if err != nil {
		return nil, err
	}
	if result.Warning != "" {
		l.notes = append(l.notes, result.Warning)
	}
	if l.session, err = first(ctx, page.Of(l.page.Handler())); err != nil {
		return nil, errors.Join(err, detach(l.jvm.PID))
	}
	return l, nil
}

// first waits for the first session.
func first(ctx context.Context, client *page.Client) (string, error) {
	var since uint64
	for {
		list, err := client.Sessions(ctx)
		switch {
		case ctx.Err() != nil:
			return "", errors.New("the agent did not connect in time; try again with a longer --timeout")
		case err != nil:
			return "", err
		case len(list.Sessions) > 0:
			return list.Sessions[0].ID, nil
		}
		change, err := client.Changes(ctx, since)
		if err == nil {
			since = change.Version
		}
	}
}

// close stops the agent, so that nothing of it remains active in the JVM, and frees what it sent.
func (l *live) close() {
	if l.session != "" {
		_ = detach(l.jvm.PID) // the JVM may have ended
	}
	ctx, cancel := context.WithTimeout(context.Background(), detachTime)
	defer cancel()
	if l.receiver != nil {
		_ = l.receiver.Close(ctx) // what arrives from now on is of no use
	}
	if l.page != nil {
		l.page.Close(ctx)
	}
	if l.meeting != nil {
		l.meeting.Close()
	}
}

// detachTime is how long the end of a command waits for a JVM.
const detachTime = 5 * time.Second

// detach stops the agent also if the command was interrupted.
func detach(pid int) error {
	ctx, cancel := context.WithTimeout(context.Background(), detachTime)
	defer cancel()
	_, err := attach.Detach(ctx, pid)
	if errors.Is(err, attach.ErrNoProcess) || errors.Is(err, attach.ErrNotLoaded) {
		return nil
	}
	return err
}

// interruptible returns a context that ends if the user or the system ends the program, so that it can stop the agent before.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}

// logger prints warnings of the parts that log.
func (p *Program) logger() *zap.Logger {
	return zap.New(notices(func(text string) { fmt.Fprintf(p.Err, "weft: %s\n", printable.Text(text)) }))
}
