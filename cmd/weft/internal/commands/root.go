// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package commands answers: what does a command line of weft do? Each command is a file: its flags and help, and the steps that it takes
// with the packages that do the work.
package commands

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/weft-otel/weft/cmd/weft/internal/progress"
	"github.com/weft-otel/weft/internal/failure"
	"github.com/weft-otel/weft/internal/printable"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1  // the command failed, or succeeded in part only
	exitUsage  = 2  // invalid command line
	exitDefect = 70 // weft has a defect; EX_SOFTWARE of sysexits.h
)

// Program is the surroundings of a command.
type Program struct {
	Version string
	In      io.Reader
	Out     io.Writer // results
	Err     io.Writer // errors, progress and notes

	rawOut, rawErr io.Writer // without escaping: never for text from a JVM or a file
}

const rootLong = `weft shows why the threads of a JVM wait, who is in the way, and what it would be worth to fix it.

  weft list                  the JVMs of this machine
  weft top PID|NAME          who waits for what, live
  weft record PID|NAME       record for 30 seconds, and print what costs the most
  weft view FILE|PID|NAME    the page with all threads over time, in the browser

The collector, which sends spans and metrics to other tools, is a separate program: weft-collector.`

// Run executes a command line and returns the exit code.
func Run(p *Program, args []string) int {
	p.rawOut, p.rawErr = p.Out, p.Err
	p.Out, p.Err = printable.Writer(p.Out), printable.Writer(p.Err) // whatever a command forgets
	root := Root(p)
	root.SetArgs(withView(root, args))
	cmd, err := root, error(nil)
	if failed := failure.Contain(func() { cmd, err = root.ExecuteC() }); failed != nil {
		err = fmt.Errorf("a defect in Weft: %w", failed)
	}
	var code *exitError
	var failed *failure.Panic
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return code.code
	case errors.As(err, new(usageError)):
		fmt.Fprintf(p.Err, "weft: %s\nRun '%s --help' for usage.\n", printable.Text(prefixed(cmd, err)), cmd.CommandPath())
		return exitUsage
	case errors.As(err, &failed):
		fmt.Fprintf(p.Err, "weft: %s\nPlease report these lines: weft %s, %s/%s, arguments %q\n", prefixed(cmd, err), p.Version, runtime.GOOS, runtime.GOARCH, args)
		for _, line := range failed.Stack {
			fmt.Fprintf(p.Err, "  %s\n", line)
		}
		return exitDefect
	default:
		fmt.Fprintf(p.Err, "weft: %s\n", prefixed(cmd, err))
		return exitFailed
	}
}

// prefixed is an error with the command that failed.
func prefixed(cmd *cobra.Command, err error) string {
	text := strings.Join(problems(err), "\n")
	if cmd.HasParent() {
		return cmd.Name() + ": " + text
	}
	return text
}

// problems are the errors that were joined, each on one line, also if it has joined ones within.
func problems(err error) (lines []string) {
	if list, ok := err.(interface{ Unwrap() []error }); ok && err.Error() == errors.Join(list.Unwrap()...).Error() {
		for _, part := range list.Unwrap() {
			lines = append(lines, problems(part)...)
		}
		return lines
	}
	return []string{strings.ReplaceAll(err.Error(), "\n", "; ")}
}

// withView makes weft FILE mean weft view FILE.
func withView(root *cobra.Command, args []string) []string {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return args
	}
	if cmd, _, err := root.Find(args[:1]); err == nil && cmd != root {
		return args
	}
	if info, err := os.Stat(args[0]); err == nil && (info.Mode().IsRegular() || info.IsDir()) {
		return append([]string{"view"}, args...)
	}
	return args
}

// Root returns the command tree.
func Root(p *Program) *cobra.Command {
	root := &cobra.Command{
		Use: "weft", Short: "Why do the threads of this JVM wait?", Long: rootLong, Version: p.Version,
		SilenceErrors: true, SilenceUsage: true, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknown(cmd, args[0])
		},
	}
	root.SuggestionsMinimumDistance = 2
	root.SetIn(p.In)
	root.SetOut(p.rawOut)
	root.SetErr(p.rawErr)
	root.SetVersionTemplate("weft {{.Version}}\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddGroup(&cobra.Group{ID: groupJVM, Title: "JVMs of this machine:"}, &cobra.Group{ID: groupFile, Title: "Recordings and traces:"})
	add := func(group string, list ...*cobra.Command) {
		for _, cmd := range list {
			cmd.GroupID = group
			root.AddCommand(cmd)
		}
	}
	add(groupJVM, p.list(), p.top(), p.record(), p.run(), p.attach(), p.detach(), p.control())
	add(groupFile, p.view(), p.summary(), p.why(), p.profile(), p.convert(), p.mcp())
	root.AddCommand(p.version())
	return root
}

const groupJVM, groupFile = "jvm", "file"

func unknown(cmd *cobra.Command, name string) error {
	text := fmt.Sprintf("unknown command %q", name)
	if similar := cmd.SuggestionsFor(name); len(similar) > 0 {
		text += ": did you mean " + strings.Join(similar, " or ") + "?"
	}
	if strings.ContainsAny(name, "./") {
		text = name + ": no such command or file"
	}
	return usagef("%s", text)
}

func (p *Program) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(p.Out, "weft %s\n", p.Version)
			return err
		},
	}
}

// line shows progress if somebody watches.
func (p *Program) line() *progress.Line {
	if !isTerminal(p.rawErr) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return progress.On(p.rawErr)
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// width is the width of the terminal, or a usual one.
func (p *Program) width() int {
	const usual = 120
	if f, ok := p.rawOut.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return usual
}

// usageError is an error in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exitError is the exit code of a program that weft has run.
type exitError struct{ code int }

func (e *exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("unexpected argument %q", args[0])
	}
	return nil
}
