// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-otel/weft/agent/attach"
	"github.com/weft-otel/weft/internal/printable"
)

const listLong = `Lists the JVMs of this machine (HotSpot on Linux), also those in containers: process ID, user, version,
time since the start, the state of Weft's agent, and the main class or jar.

Column AGENT: - is not loaded; idle is loaded without a session; else where its events go. A question
mark means that this user cannot see it: run weft as the user of the JVM, or as root.`

// jvmRow is a JVM in --format json.
type jvmRow struct {
	PID       int       `json:"pid"`
	User      string    `json:"user"`
	Version   string    `json:"version"`
	Start     time.Time `json:"start"`
	MainClass string    `json:"main_class"`
	Agent     string    `json:"agent"`      // library; empty: not loaded, or unknown
	Sends     string    `json:"sends"`      // where events go, or why they do not; empty: no session
	CanAttach bool      `json:"can_attach"` // this user can
	Problem   string    `json:"problem"`    // why it cannot, or what is unknown
}

func (p *Program) list() *cobra.Command {
	cmd := &cobra.Command{Use: "list [flags]", Aliases: []string{"ls", "ps"}, Short: "List the JVMs of this machine", Long: listLong, Args: noArgs}
	shown := formatFlag(cmd.Flags(), "a table for people, or all data for programs")
	timeout := durationFlag(cmd.Flags(), "timeout", "", 5*time.Second, "how long to wait for agents")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, cancel := context.WithTimeout(cmd.Context(), *timeout)
		defer cancel()
		all, err := attach.ListAgents(ctx)
		if err != nil {
			return err
		}
		rows := make([]jvmRow, len(all))
		for i := range all {
			rows[i] = rowOf(&all[i])
		}
		if *shown == formatJSON {
			return p.writeJSON(rows)
		}
		return p.writeJVMs(rows, time.Now())
	}
	return cmd
}

func rowOf(jvm *attach.JVM) jvmRow {
	row := jvmRow{
		PID: jvm.PID, User: jvm.User, Version: jvm.Version, Start: jvm.Start, MainClass: jvm.MainClass, CanAttach: jvm.Attach == nil,
		Agent: jvm.Agent.Library, Sends: jvm.Agent.Report.Connection,
	}
	for _, err := range []error{jvm.Unknown, jvm.Attach, jvm.Agent.Err} {
		if err != nil {
			row.Problem = err.Error()
			break
		}
	}
	return row
}

func (p *Program) writeJVMs(rows []jvmRow, now time.Time) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(p.Out, "No JVM is running here.")
		return err
	}
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PID\tUSER\tJAVA\tUP\tAGENT\tMAIN CLASS")
	for i := range rows {
		row := &rows[i]
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\n", row.PID, printable.Text(row.User), cell(row.Version), up(now.Sub(row.Start)), agentCell(row), cell(row.MainClass))
	}
	_ = table.Flush() // to memory
	_, err := fmt.Fprint(p.Out, text.String())
	return err
}

func cell(text string) string {
	if text == "" {
		return "?"
	}
	return printable.Text(text)
}

// agentCell is the state of the agent in a few words.
func agentCell(row *jvmRow) string {
	switch {
	case row.Agent == "" && row.Problem != "" && !row.CanAttach:
		return "?"
	case row.Agent == "":
		return "-"
	case row.Sends == "":
		return "idle"
	}
	where, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(row.Sends, "connected to "), "recording to "), ": ")
	return printable.Text(where)
}

// up is how long a JVM has been running: 40s, 12m, 5h03m, 2d04h.
func up(d time.Duration) string {
	const day = 24 * time.Hour
	switch d = max(d, 0); {
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + "m"
	case d < day:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%02dh", d/day, int((d % day).Hours()))
}
