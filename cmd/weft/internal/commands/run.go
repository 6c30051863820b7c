// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-otel/weft/agent/attach"
	"github.com/weft-otel/weft/agent/bundled"
	"github.com/weft-otel/weft/internal/recording"
)

const runLong = `Starts a Java program under the agent, records it from its start, and prints what cost the most when the
program ends, or after --duration; the program then goes on without the agent. The summary goes to
standard error; the exit code is that of the program.

If the program is not java itself but a script or a build tool, all JVMs that it starts are recorded,
one file each (through JDK_JAVA_OPTIONS).`

const runExample = `  weft run -- java -jar orders.jar
  weft run -d 1m -o start.weft -- java -cp classes com.acme.Orders
  weft run -- mvn -q test`

func (p *Program) run() *cobra.Command {
	o := recordOptions{maxBytes: defaultRecording}
	cmd := &cobra.Command{
		Use: "run [flags] [KEY=VALUE...] -- java ARGUMENTS...", Short: "Start a Java program, record it, and print what costs the most",
		Long: runLong, Example: runExample,
	}
	flags := cmd.Flags()
	flags.VarP((*positive)(&o.duration), "duration", "d", "how long to record (default: until the program ends)")
	flags.Lookup("duration").DefValue = ""
	flags.StringVarP(&o.out, "output", "o", "", "file for the recording (default java-TIME.weft)")
	flags.BoolVarP(&o.force, "force", "f", false, "replace the file if it exists")
	flags.Var((*size)(&o.maxBytes), "max-size", "size limit of the recording, 1m to 1g; what does not fit is counted")
	flags.StringVar(&o.agent, "agent", "", "the agent library (default: the one in this program, for the platform\nof the JVM)")
	flags.IntVar(&o.summary.top, "top", 10, "show at most this many rows per table")
	shown := formatFlag(flags, "the summary as tables for people, or all data for programs")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		o.summary.format = *shown
		dash := cmd.ArgsLenAtDash()
		if dash < 0 || dash == len(args) {
			return usagef("no program given: want -- java and its arguments")
		}
		if o.options, err = agentOptions(args[:dash]); err != nil {
			return err
		}
		if err := o.check(); err != nil {
			return err
		}
		return p.runProgram(cmd.Context(), args[dash:], &o)
	}
	return cmd
}

func (p *Program) runProgram(ctx context.Context, words []string, o *recordOptions) error {
	if o.out == "" {
		o.out = "java-" + time.Now().Format("20060102-150405") + ".weft"
	}
	out, err := filepath.Abs(o.out)
	if err != nil {
		return err
	}
	if strings.ContainsAny(out, ",%") {
		return usagef("the path of the recording must not contain a comma or %%: %s", out)
	}
	program := exec.Command(words[0], words[1:]...) //nolint:gosec,noctx // the user's command; it gets signals by itself
	java, direct, err := launcher(words[0])
	if err != nil {
		return err
	}
	agent, err := agentFor(java, o.agent)
	if err != nil {
		return err
	}
	files := out
	if !direct {
		files = strings.TrimSuffix(out, ".weft") + "-%p.weft"
	}
	option := "-agentpath:" + agent + "=" + strings.Join(slices.Concat([]string{"file=" + files, "file-size=" + strconv.FormatInt(o.maxBytes, 10)}, detailed, o.options), ",")
	if direct {
		program.Args = slices.Insert(program.Args, 1, option)
	} else {
		program.Env = append(os.Environ(), "JDK_JAVA_OPTIONS="+strings.TrimSpace(os.Getenv("JDK_JAVA_OPTIONS")+" "+option))
	}
	if o.force {
		_ = os.Remove(out) // the agent creates it
	}
	program.Stdin, program.Stdout, program.Stderr = p.In, p.rawOut, p.rawErr
	began := time.Now()
	if err := program.Start(); err != nil {
		return err
	}
	ended := p.untilEnd(ctx, program, direct, o)
	found := recordings(files, direct, began)
	if direct && len(found) == 1 {
		found[0] = o.out // as the user wrote it
	}
	if len(found) == 0 {
		fmt.Fprintf(p.Err, "weft: no JVM was recorded: %s started none that reads JDK_JAVA_OPTIONS, or it ended before its start\n", filepath.Base(words[0]))
		return errors.Join(ended, &exitError{exitFailed})
	}
	return errors.Join(ended, p.answerRun(ctx, found, o))
}

// untilEnd waits for a program, whose signals are its own, and ends the recording before if there is a limit.
func (p *Program) untilEnd(ctx context.Context, program *exec.Cmd, direct bool, o *recordOptions) error {
	ignored := make(chan os.Signal, 1) // ctrl-C goes to the program, too, which decides
	signal.Notify(ignored, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(ignored)
	done := make(chan error, 1)
	go func() { done <- program.Wait() }()
	var limit <-chan time.Time
	if o.duration > 0 && direct {
		limit = time.After(o.duration)
	}
	for {
		select {
		case err := <-done:
			var code *exec.ExitError
			if errors.As(err, &code) {
				return &exitError{code.ExitCode()}
			}
			return err
		case <-limit:
			if err := detach(program.Process.Pid); err != nil {
				fmt.Fprintf(p.Err, "weft: the recording goes on: %v\n", err)
			}
		case s := <-ignored:
			if s == syscall.SIGTERM {
				_ = program.Process.Signal(s) // it may just have ended
			}
		case <-ctx.Done():
			_ = program.Process.Kill() // as above
		}
	}
}

// answerRun prints the summary of recordings to standard error.
func (p *Program) answerRun(ctx context.Context, files []string, o *recordOptions) error {
	to := *p
	to.Out = p.Err
	o.summary.unpacked = recording.DefaultMaxUnpacked
	err := to.summarize(ctx, files, &o.summary)
	if o.summary.format == formatText {
		fmt.Fprintf(p.Err, "\nSee more with: weft view")
		for _, file := range files {
			fmt.Fprintf(p.Err, " %s", quoted(file))
		}
		fmt.Fprintln(p.Err)
	}
	return err
}

// launcher returns the java that a command starts: itself, or what a script would find.
func launcher(name string) (java string, direct bool, err error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", false, err
	}
	if filepath.Base(name) == "java" {
		java, err := filepath.EvalSymlinks(path)
		return java, true, err
	}
	if home := os.Getenv("JAVA_HOME"); home != "" {
		path = filepath.Join(home, "bin", "java")
	} else if path, err = exec.LookPath("java"); err != nil {
		return "", false, errors.New("no java in PATH, whose platform the agent must have; set JAVA_HOME")
	}
	java, err = filepath.EvalSymlinks(path)
	return java, false, err
}

// agentFor is the agent for the JVM of a launcher.
func agentFor(java, given string) (string, error) {
	if given != "" {
		return filepath.Abs(given)
	}
	platform, err := attach.PlatformOfProgram(java)
	if err != nil {
		return "", fmt.Errorf("%w; give the agent library with --agent", err)
	}
	return bundled.Library(platform)
}

// recordings are the files that were written since a time.
func recordings(pattern string, direct bool, since time.Time) (files []string) {
	candidates := []string{pattern}
	if !direct {
		candidates, _ = filepath.Glob(strings.ReplaceAll(pattern, "%p", "*")) // the pattern is valid, but for special characters in the folder
	}
	for _, file := range candidates {
		if info, err := os.Stat(file); err == nil && info.Size() > 0 && !info.ModTime().Before(since.Add(-time.Second)) {
			files = append(files, file)
		}
	}
	return files
}

// quoted is a file name for a shell.
func quoted(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !isWord(r) && !strings.ContainsRune("./+:@", r) }) {
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	return name
}
