// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weft-otel/weft/agent/attach"
	"github.com/weft-otel/weft/internal/printable"
)

const attachLong = `Loads the agent into running JVMs (HotSpot on Linux; no JDK needed), and waits until it is connected to
its collector. Run it as the user of the JVM or as root. Each PID is a process ID; a NAME means the
JVM of this user with that text in its main class.

KEY=VALUE sets an option of the agent, such as endpoint=tcp://localhost:4327; without it, the agent
looks for the collector at the default sockets, in the JVM's environment. The session starts with a
snapshot of what each thread is blocked on. If the agent is already loaded, attach changes its
options.

JVMs of version 21 and later print a warning about the loaded agent on their standard error.`

const attachExample = `  weft attach 4711 service=orders
  weft attach 4711 depth=8 pause=on     resume with pause=off
  weft attach 4711 snapshot=now`

const detachLong = `Stops the agent in JVMs: it no longer records or sends events. The library stays loaded; weft attach
starts a new session.`

const controlLong = `Changes options of the agent in a JVM, or prints them. Unlike weft attach, it never loads the agent.`

const controlExample = `  weft control 4711                     print the options
  weft control 4711 pause=on`

// agentRow is the state of one agent in --format json.
type agentRow struct {
	PID        int      `json:"pid"`
	Connection string   `json:"connection"` // where events go, or why they do not; empty: no session
	Connected  bool     `json:"connected"`
	Warning    string   `json:"warning"`
	Notes      []string `json:"notes"`
	Options    []string `json:"options"`
	Error      string   `json:"error"`
}

// agentFlags are common to the commands that change agents.
type agentFlags struct {
	choice  choice
	agent   *string
	timeout *time.Duration
	format  *format
	verbose *bool
}

func addAgentFlags(flags *pflag.FlagSet, loads bool) *agentFlags {
	f := &agentFlags{agent: new(string)}
	f.choice.addFlags(flags, true)
	if loads {
		f.agent = flags.String("agent", "", "the agent library (default: the one in this program, for the platform\nof the JVM)")
	}
	f.timeout = durationFlag(flags, "timeout", "", 10*time.Second, "how long to wait for a JVM")
	f.format = formatFlag(flags, "lines for people, or all data for programs")
	f.verbose = flags.BoolP("verbose", "v", false, "also print the options in effect")
	return f
}

func (p *Program) attach() *cobra.Command {
	cmd := &cobra.Command{
		Use: "attach [flags] PID|NAME... [KEY=VALUE...]", Short: "Load the agent, or change its options", Long: attachLong, Example: attachExample,
		Args: needsOne(noJVM), ValidArgsFunction: completeJVMs,
	}
	f := addAgentFlags(cmd.Flags(), true)
	noWait := cmd.Flags().Bool("no-wait", false, "do not wait until the agent is connected")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return p.eachAgent(cmd.Context(), f, args, func(ctx context.Context, pid int, options []string) (attach.Result, error) {
			result, err := load(ctx, pid, *f.agent, options)
			if err != nil || *noWait {
				return result, err
			}
			return connected(ctx, pid, result)
		})
	}
	return cmd
}

func (p *Program) detach() *cobra.Command {
	cmd := &cobra.Command{
		Use: "detach [flags] PID|NAME...", Short: "Stop the agent", Long: detachLong, Args: needsOne(noJVM), ValidArgsFunction: completeJVMs,
	}
	f := addAgentFlags(cmd.Flags(), false)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return p.eachAgent(cmd.Context(), f, args, func(ctx context.Context, pid int, options []string) (attach.Result, error) {
			if len(options) > 0 {
				return attach.Result{}, usagef("unexpected argument %q", options[0])
			}
			return attach.Detach(ctx, pid)
		})
	}
	return cmd
}

func (p *Program) control() *cobra.Command {
	cmd := &cobra.Command{
		Use: "control [flags] PID|NAME... [KEY=VALUE...]", Short: "Print or change the options of the agent", Long: controlLong, Example: controlExample,
		Args: needsOne(noJVM), ValidArgsFunction: completeJVMs,
	}
	f := addAgentFlags(cmd.Flags(), false)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		*f.verbose = true
		return p.eachAgent(cmd.Context(), f, args, func(ctx context.Context, pid int, options []string) (attach.Result, error) {
			result, err := attach.Ask(ctx, pid)
			if err != nil || len(options) == 0 {
				return result, err
			}
			return attach.Attach(ctx, attach.Request{PID: pid, Options: options})
		})
	}
	return cmd
}

const noJVM = "no JVM given: want a process ID or a part of a main class; weft list shows them"

// eachAgent does something with the agent of each JVM that the arguments name, and prints the outcomes.
func (p *Program) eachAgent(ctx context.Context, f *agentFlags, args []string, do func(context.Context, int, []string) (attach.Result, error)) error {
	words, options, err := split(args)
	if err != nil {
		return err
	}
	if len(words) == 0 {
		return usagef("%s", noJVM)
	}
	chosen, err := f.choice.list(ctx, words, options)
	if err != nil {
		return err
	}
	rows, errs := []agentRow{}, []error{}
	for i := range chosen {
		row, err := one(ctx, chosen[i].PID, *f.timeout, options, do)
		if errors.As(err, new(usageError)) {
			return err
		}
		if err != nil {
			errs = append(errs, errors.New(printable.Text(strings.Join(problems(err), "; "))))
		}
		rows = append(rows, row)
	}
	if *f.format == formatJSON {
		return errors.Join(append(errs, p.writeJSON(rows))...)
	}
	for i := range rows {
		p.writeAgent(&rows[i], *f.verbose, len(rows) > 1)
	}
	return errors.Join(errs...)
}

// split separates JVMs from options.
func split(args []string) (words, options []string, err error) {
	for i, arg := range args {
		if strings.Contains(arg, "=") {
			options, err = agentOptions(args[i:])
			return words, options, err
		}
		words = append(words, arg)
	}
	return words, nil, nil
}

func one(ctx context.Context, pid int, timeout time.Duration, options []string, do func(context.Context, int, []string) (attach.Result, error)) (agentRow, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	result, err := do(ctx, pid, options)
	row := agentRow{
		PID: pid, Connection: result.Connection, Connected: isConnected(&result), Warning: result.Warning, Notes: result.Notes, Options: result.Options,
	}
	if err != nil {
		row.Error = err.Error()
	}
	return row, err
}

// isConnected reports whether the events of an agent arrive.
func isConnected(result *attach.Result) bool {
	return result.Connection != "" && !strings.HasPrefix(result.Connection, "not connected")
}

// connected asks an agent until its events arrive, or the time is over.
func connected(ctx context.Context, pid int, result attach.Result) (attach.Result, error) {
	for result.Connection != "" && !isConnected(&result) {
		select {
		case <-ctx.Done():
			return result, fmt.Errorf("process %d: %s", pid, result.Connection)
		case <-time.After(200 * time.Millisecond):
		}
		next, err := attach.Ask(context.WithoutCancel(ctx), pid)
		if err != nil {
			return result, err
		}
		result.Connection = next.Connection
	}
	return result, nil
}

// writeAgent prints what the agent reported, which the JVM's user could have written, too.
func (p *Program) writeAgent(row *agentRow, verbose, several bool) {
	say := func(format string, args ...any) {
		if several {
			format = fmt.Sprintf("%d: ", row.PID) + format
		}
		fmt.Fprintf(p.Out, format+"\n", args...)
	}
	switch {
	case row.Error != "":
		return // on standard error
	case row.Connection == "":
		say("The agent is stopped.")
	default:
		say("%s", printable.Text(strings.ToUpper(row.Connection[:1])+row.Connection[1:]))
	}
	if row.Warning != "" {
		say("Warning: %s", printable.Text(row.Warning))
	}
	for _, note := range row.Notes {
		say("%s", printable.Text(note))
	}
	if verbose {
		for _, option := range row.Options {
			say("  %s", printable.Text(option))
		}
	}
}
