// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package attach answers: how does the agent get into a JVM that runs already? It speaks the attach protocol of HotSpot (JDK 8 and later) itself,
// so no JDK is needed: a file and a signal make the JVM listen on a socket, over which it is told to load a library.
//
// Loading it again changes the options of the agent that is there; the option detach=now makes it inert.
package attach

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Request says what to load, and where.
type Request struct {
	PID     int
	Library string   // path of libweft.so here; a JVM in a container that does not see it gets a copy
	Options []string // key=value, as in agent/README.md
}

// Result is what the agent answers.
type Result struct {
	Warning    string   // what it cannot do in this JVM; empty if there is nothing
	Connection string   // where events go; if they do not, why and what to do. Empty after detach=now
	Options    []string // key=value, all that can be changed, as they are now; none after detach=now
}

// Errors that a caller may want to tell apart; test with errors.Is. All errors say what to do.
var (
	ErrNoProcess  = errors.New("no such process")
	ErrNotJVM     = errors.New("not a JVM")
	ErrPermission = errors.New("not permitted")
	ErrTimeout    = errors.New("the JVM does not answer")
)

// AgentError is what the agent says when it refuses its options.
type AgentError struct{ Message string }

func (e *AgentError) Error() string { return e.Message }

// maxArgument is what HotSpot takes for an argument, with the zero byte behind it.
const maxArgument = 1024

// Attach loads the agent. The context bounds the wait; without a deadline it can be for ever. It needs to be of the JVM's user, or root.
func Attach(ctx context.Context, r Request) (Result, error) {
	for _, option := range r.Options {
		if key, _, ok := strings.Cut(option, "="); !ok || key == "" || strings.ContainsAny(option, ",\x00") {
			return Result{}, fmt.Errorf("option %q: write key=value, without a comma", option)
		}
	}
	result, err := attach(ctx, r)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("process %d: %w in time; is it stopped, or busy with a long garbage collection? Try again with more time", r.PID, ErrTimeout)
	}
	return result, err
}

// parseReport reads what the agent wrote: "ok" or "error" and a text, then where events go, then a line for each option.
func parseReport(report string) (Result, error) {
	lines := strings.Split(strings.TrimSuffix(report, "\n"), "\n")
	verdict, text, _ := strings.Cut(lines[0], " ")
	switch verdict {
	case "ok":
		result := Result{Warning: text, Options: lines[1:]}
		if len(lines) > 1 && strings.HasPrefix(lines[1], "# ") {
			result.Connection, result.Options = lines[1][len("# "):], lines[2:]
		}
		return result, nil
	case "error":
		return Result{}, &AgentError{Message: text}
	default:
		return Result{}, fmt.Errorf("the agent's report %q is neither ok nor error; is the library another version?", lines[0])
	}
}

// checkReply reads HotSpot's answer to load: a line with 0 if it took the command, then the agent's own code, "return code: N" or N.
func checkReply(reply string) error {
	status, rest, _ := strings.Cut(reply, "\n")
	rest = strings.TrimSpace(rest)
	code := strings.TrimPrefix(rest, "return code: ")
	switch {
	case status == "0" && code == "0":
		return nil
	case strings.Contains(rest, "EnableDynamicAgentLoading"):
		return errors.New("the JVM loads no agents while it runs; start it with -XX:+EnableDynamicAgentLoading, or with -agentpath")
	case status == "":
		return errors.New("the JVM closed the connection without an answer; did it end?")
	case rest == "":
		return fmt.Errorf("the JVM refuses to load the agent (code %s)", status)
	default:
		return fmt.Errorf("the JVM cannot load the agent: %s", strings.ReplaceAll(rest, "\n", "; "))
	}
}
