// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/weft-otel/weft/internal/assistant"
	"github.com/weft-otel/weft/internal/page"
	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/recording"
)

const mcpLong = `Answers the questions of an assistant: a server of the Model Context Protocol on standard input and
output. An assistant starts it itself; all of its tools only read.

FILE is a recording, as of weft view. With --page, it asks the page of weft view or of a collector,
which also serves the protocol itself, at the path mcp of its address. A user name and a password, or
a token in the URL, are sent to it.`

const mcpExample = `  weft mcp orders.weft
  weft mcp --page http://localhost:8090/`

func (p *Program) mcp() *cobra.Command {
	var address string
	var unpacked int
	cmd := &cobra.Command{
		Use: "mcp [flags] [FILE]", Short: "Answer the questions of an assistant (MCP)", Long: mcpLong, Example: mcpExample,
	}
	flags := cmd.Flags()
	flags.StringVar(&address, "page", "", "URL of the page to ask, instead of a file")
	flags.IntVar(&unpacked, "max-unpacked", recording.DefaultMaxUnpacked>>30, "read at most this many gibibytes of a compressed file, decompressed")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case unpacked < 1 || unpacked > 1<<20:
			return usagef("invalid --max-unpacked %d: want 1 to %d gibibytes", unpacked, 1<<20)
		case len(args) > 1 || (len(args) == 1) == (address != ""):
			return usagef("want one recording, or --page URL")
		}
		ctx, stop := interruptible(cmd.Context())
		defer stop()
		if address != "" {
			return p.assistPage(ctx, address)
		}
		switch files, err := areFiles(args); {
		case err != nil:
			return err
		case !files:
			return fmt.Errorf("%s: no such file", printable.Text(args[0]))
		}
		return p.assistFile(ctx, args[0], unpacked)
	}
	return cmd
}

// assistPage answers questions about the sessions of a page.
func (p *Program) assistPage(ctx context.Context, address string) error {
	client, err := page.New(address, http.DefaultTransport)
	if err != nil {
		return usageError{fmt.Errorf("--page: %w", err)}
	}
	links, err := url.Parse(address)
	if err != nil {
		return err
	}
	links.User, links.RawQuery, links.Fragment = nil, "", ""
	if !strings.HasSuffix(links.Path, "/") {
		links.Path += "/"
	}
	return p.assist(ctx, client, links)
}

// assistFile answers questions about a recording, once it is read.
func (p *Program) assistFile(ctx context.Context, file string, unpacked int) error {
	view, problems := p.readAll(ctx, []string{file}, &readOptions{unpacked: int64(unpacked) << 30})
	if view == nil {
		return problems
	}
	if problems != nil {
		fmt.Fprintf(p.Err, "weft: %v\n", problems)
	}
	defer view.Close(context.WithoutCancel(ctx))
	return p.assist(ctx, page.Of(view.Handler()), nil)
}

// assist serves the protocol until standard input or the context ends. Its messages are the only output: they are JSON, and texts in them are
// escaped already.
func (p *Program) assist(ctx context.Context, client *page.Client, links *url.URL) error {
	err := assistant.New(p.Version, client, links).Run(ctx, &mcp.IOTransport{
		Reader: io.NopCloser(p.In), Writer: unclosed{p.rawOut}, MaxLineLength: assistant.MaxRequest,
	})
	if ctx.Err() != nil || errors.Is(err, io.EOF) { // a signal, or the assistant went away
		return nil
	}
	return err
}

// unclosed is a writer that stays open for whoever gave it.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
