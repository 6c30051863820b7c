// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package assistant

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/weft-otel/weft/internal/failure"
	"github.com/weft-otel/weft/internal/page"
	"github.com/weft-otel/weft/internal/printable"
)

const (
	// maxCalls is how many calls ask the page at the same time. A call asks one question after the other, and holds none of the page's own
	// places between them, so calls and the page cannot wait for each other.
	maxCalls = 8
	// patience is how long a call may take in all, within the server's time-out of 30 s.
	patience = 25 * time.Second
	// queueing is how much of that it may wait for its place.
	queueing = 15 * time.Second
)

var (
	errCalls   = errors.New("the server is busy: too many questions at the same time; ask again in some seconds")
	errTooLong = fmt.Errorf("the server is busy: no answer within %v; ask again, or for a shorter time range", patience)
)

// call answers a call once there is a place for it. Its errors are for assistants.
func (s *tools) call(ctx context.Context, answer func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	defer untilGone(ctx, cancel)()
	if !s.enter(ctx) {
		return errCalls
	}
	defer func() { <-s.calls }()
	var err error
	if p := failure.Contain(func() { err = answer(ctx) }); p != nil { // the SDK calls tools in goroutines of its own
		err = fmt.Errorf("a defect in Weft, please report it: %w", p)
	}
	var refused *page.Refused
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return errTooLong
	case errors.As(err, &refused):
		return oneLine(refused.Message)
	}
	return oneLine(err.Error())
}

// enter waits for a place, and reports whether it got one.
func (s *tools) enter(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, queueing)
	defer cancel()
	select {
	case s.calls <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func oneLine(text string) error { return errors.New(clip(printable.Text(text), maxLine)) }

// schemaErrors are what the SDK says of arguments that do not match the schema of a tool, and what an assistant reads instead.
var schemaErrors = []struct {
	pattern *regexp.Regexp
	words   string
}{
	{regexp.MustCompile(`^.*unexpected additional properties (\[.*\]).*$`), "unknown arguments $1: the schema of the tool lists all"},
	{regexp.MustCompile(`^.*missing properties: (\[.*\]).*$`), "missing arguments $1"},
	{regexp.MustCompile(`^.*/properties/(\w+): type: (.*) has type "(.*)", want "(.*)"$`), `$1: $2 has type $3, want $4`},
	{regexp.MustCompile(`^.*unmarshaling arguments: .*$`), "arguments: want an object"},
	{regexp.MustCompile(`^json: .* Go struct field [\w.]+\.(\w+) of type .*$`), "$1: out of range"},
	{regexp.MustCompile(`^.*validating root: type: .*$`), "arguments: want an object"},
}

// inPlainWords makes errors of the SDK as short and harmless as those of the tools: they repeat arguments.
func inPlainWords(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		out, err := next(ctx, method, req)
		var wire *jsonrpc.Error
		if errors.As(err, &wire) {
			short := *wire
			short.Message, short.Data = oneLine(wire.Message).Error(), nil
			return out, &short
		}
		if result, ok := out.(*mcp.CallToolResult); ok && result.IsError {
			for _, content := range result.Content {
				if text, ok := content.(*mcp.TextContent); ok {
					text.Text = oneLine(ofSchema(text.Text)).Error()
				}
			}
		}
		return out, err
	}
}

func ofSchema(text string) string {
	if !strings.HasPrefix(text, "validating ") && !strings.HasPrefix(text, "json: ") {
		return text
	}
	text = strings.ReplaceAll(text, "\n", " ")
	for _, e := range schemaErrors {
		if e.pattern.MatchString(text) {
			return e.pattern.ReplaceAllString(text, e.words)
		}
	}
	return text
}
