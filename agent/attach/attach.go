// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package attach answers: which JVMs run on this machine, and how does the agent get into one? It implements the attach protocol of HotSpot
// (JDK 8 and later), so no JDK is needed: a file and a signal make the JVM listen on a socket, over which it accepts a command to load a
// library.
//
// Loading the agent again changes its options; the option detach=now makes it inert. There is one agent in a JVM: if it is loaded, it is
// used whatever library is given.
package attach

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Request specifies what to load, and where.
type Request struct {
	PID int
	// Library is the path of libweft.so on this machine. It is copied into the container of a JVM that does not see it. If the agent is
	// loaded, this is ignored and may be empty.
	Library string
	Options []string // key=value, as in agent/README.md
}

// Result is the answer of the agent.
type Result struct {
	Warning    string   // what does not work in this JVM, if anything
	Connection string   // where events go, or the reason why they do not and a remedy. Empty without a session, as after detach=now
	Notes      []string // about OpenTelemetry's SDK in this JVM, if there is one
	Options    []string // key=value, the current values of all options that can be changed; none after detach=now
}

// Errors of Attach, to be tested with errors.Is. All errors suggest a remedy.
var (
	ErrNoProcess  = errors.New("no such process")
	ErrNotJVM     = errors.New("not a JVM")
	ErrPermission = errors.New("permission denied")
	ErrTimeout    = errors.New("the JVM does not answer")
	ErrNotLoaded  = errors.New("the agent is not loaded")
)

// AgentError is the error of an agent that rejects its options.
type AgentError struct{ Message string }

func (e *AgentError) Error() string { return e.Message }

// Size limits in bytes: of an argument in HotSpot, and of all options in the agent.
const (
	maxArgument = 1023
	maxRequest  = 16<<10 - 1
)

// Attach loads the agent. It must run as the JVM's user or root. The context bounds the wait; without a deadline it may last forever.
func Attach(ctx context.Context, r Request) (Result, error) {
	for _, option := range r.Options {
		if key, _, ok := strings.Cut(option, "="); !ok || key == "" || strings.ContainsAny(option, ",\x00") {
			return Result{}, fmt.Errorf("invalid option %q: want key=value, without a comma", option)
		}
	}
	if size := len(strings.Join(r.Options, ",")); size > maxRequest {
		return Result{}, fmt.Errorf("the options have %d bytes, more than the limit of %d; give fewer at a time", size, maxRequest)
	}
	return withinTime(ctx, r, false)
}

// Ask returns the report of a loaded agent without changing anything. The error is ErrNotLoaded if there is no agent.
func Ask(ctx context.Context, pid int) (Result, error) {
	return withinTime(ctx, Request{PID: pid, Options: []string{"status=now"}}, true)
}

// Detach ends the session of a loaded agent. The error is ErrNotLoaded if there is no agent.
func Detach(ctx context.Context, pid int) (Result, error) {
	return withinTime(ctx, Request{PID: pid, Options: []string{"detach=now"}}, true)
}

// withinTime attaches, to a JVM with an agent only if loaded is set.
func withinTime(ctx context.Context, r Request, loaded bool) (Result, error) {
	result, err := attach(ctx, r, loaded)
	return result, inTime(r.PID, err)
}

// inTime says of an error that the context caused what to do about it.
func inTime(pid int, err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("process %d: %w in time; check whether it is stopped or in a long garbage collection, and try again with more time", pid, ErrTimeout)
	}
	return err
}

// parseReport parses the agent's report: "ok" or "error" and a message, then where events go and notes, then a line for each option.
func parseReport(report string) (Result, error) {
	lines := strings.Split(strings.TrimSuffix(report, "\n"), "\n")
	verdict, text, _ := strings.Cut(lines[0], " ")
	switch verdict {
	case "ok":
		result := Result{Warning: text, Options: lines[1:]}
		for len(result.Options) > 0 && strings.HasPrefix(result.Options[0], "# ") {
			note := result.Options[0][len("# "):]
			if result.Connection == "" {
				result.Connection = note
			} else {
				result.Notes = append(result.Notes, note)
			}
			result.Options = result.Options[1:]
		}
		return result, nil
	case "error":
		return Result{}, &AgentError{Message: text}
	default:
		return Result{}, fmt.Errorf("invalid report %q of the agent: want ok or error; check the version of the library", lines[0])
	}
}

// checkReply parses HotSpot's answer to load: a line with 0 if it accepted the command, then the agent's code as "return code: N" or N.
func checkReply(reply string) error {
	status, rest, _ := strings.Cut(reply, "\n")
	rest = strings.TrimSpace(rest)
	code := strings.TrimPrefix(rest, "return code: ")
	switch {
	case status == "0" && code == "0":
		return nil
	case strings.Contains(rest, "EnableDynamicAgentLoading"):
		return errors.New("the JVM does not allow dynamic loading of agents; start it with -XX:+EnableDynamicAgentLoading, or with -agentpath")
	case status == "":
		return errors.New("the JVM closed the connection without an answer; check whether it has exited")
	case rest == "":
		return fmt.Errorf("the JVM refused to load the agent (code %s)", status)
	default:
		return fmt.Errorf("the JVM could not load the agent: %s", strings.ReplaceAll(rest, "\n", "; "))
	}
}
