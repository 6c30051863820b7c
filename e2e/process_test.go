// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/kept"
)

// patience is the timeout for actions that normally take seconds at most, on a busy machine.
const patience = 10 * time.Minute

// poll waits until a condition holds. It pauses between checks, to leave the CPU to the program it waits for.
func poll(t *testing.T, what string, condition func() bool) {
	t.Helper()
	pollFor(t, patience, what, condition)
}

// pollFor is poll with a timeout.
func pollFor(t *testing.T, limit time.Duration, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); ; {
		looked := time.Now()
		if condition() {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %v still not: %s", limit, what)
		}
		time.Sleep(max(10*time.Millisecond, 3*time.Since(looked)))
	}
}

// process is a running program with its output.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	exited chan struct{} // closed when it ended
	own    []string      // environment that only this program has

	mu     sync.Mutex
	stdout []string
	stderr []string
}

// start runs a program until it or the test ends. If the test fails, the program's state and last output are logged, and what the test leaves is
// kept.
func start(t *testing.T, env []string, name string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(name, args...), exited: make(chan struct{}), own: env}
	p.cmd.Env = append(environment(), env...)
	var err error
	p.stdin, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	stderr, err := p.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	var readers sync.WaitGroup
	readers.Go(func() { p.collect(stdout, &p.stdout) })
	readers.Go(func() { p.collect(stderr, &p.stderr) })
	go func() {
		readers.Wait()
		_ = p.cmd.Wait() // the state is read by code
		close(p.exited)
	}()
	t.Cleanup(func() {
		state := "was still running"
		if !p.running() {
			state = p.cmd.ProcessState.String()
		} else if t.Failed() && filepath.Base(name) == "java" {
			state += ":\n" + p.threads()
		}
		_ = p.cmd.Process.Kill() // it may have ended
		<-p.exited
		if t.Failed() {
			t.Logf("%s %s\n%s", p.command(), state, lastWords(append(p.outLines(), p.errLines()...)))
			p.keep(t)
		}
	})
	return p
}

// keep writes the program's command, environment and output, and copies all temporary files as they are now: later cleanups remove them.
func (p *process) keep(t *testing.T) {
	t.Helper()
	to := os.Getenv(kept.Variable)
	if to == "" {
		return
	}
	name := filepath.Join(to, strings.ReplaceAll(t.Name(), "/", "."), fmt.Sprintf("%d-%s", p.cmd.Process.Pid, filepath.Base(p.cmd.Path)))
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	for suffix, lines := range map[string][]string{
		"command": append(slices.Clone(p.cmd.Args), p.own...), "stdout": p.outLines(), "stderr": p.errLines(),
	} {
		require.NoError(t, os.WriteFile(name+"."+suffix, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
	}
	omitted, err := kept.Copy(filepath.Join(to, "files"), os.TempDir(), kept.Limit)
	require.NoError(t, err)
	if omitted > 0 {
		t.Logf("%d files of the test are not in %s: they are too large or could not be read", omitted, to)
	}
}

// threads requests a thread dump of a JVM and returns the top of the stacks of its non-daemon threads.
func (p *process) threads() string {
	const end, frames, most = "JNI global ref", 6, 60
	_ = p.cmd.Process.Signal(syscall.SIGQUIT) // it may just have ended
	var said []string
	for deadline := time.Now().Add(time.Minute); p.running() && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if said = p.outLines(); slices.ContainsFunc(said, func(line string) bool { return strings.Contains(line, end) }) {
			break
		}
	}
	var shown []string
	for thread := range strings.SplitSeq(strings.Join(said, "\n"), "\n\n") {
		if lines := strings.Split(thread, "\n"); strings.Contains(lines[0], "\" #") && !strings.Contains(lines[0], " daemon ") {
			shown = append(shown, lines[:min(frames, len(lines))]...)
		}
	}
	return strings.Join(shown[:min(most, len(shown))], "\n")
}

// command abbreviates the command line.
func (p *process) command() string {
	const enough = 300
	words := make([]string, len(p.cmd.Args))
	for i, word := range p.cmd.Args {
		words[i] = strings.TrimPrefix(word, root+"/")
	}
	return cut(strings.Join(words, " "), enough)
}

// lastWords are the last lines of a program, preceded by its last warnings and errors.
func lastWords(lines []string) string {
	const last, complaining, width = 10, 6, 400
	tail := lines[max(0, len(lines)-last):]
	var complaints []string
	for _, line := range lines[:len(lines)-len(tail)] {
		if complaint.MatchString(line) {
			complaints = append(complaints, line)
		}
	}
	complaints = complaints[max(0, len(complaints)-complaining):]
	var text strings.Builder
	for _, line := range slices.Concat(complaints, tail) {
		text.WriteString("  " + cut(line, width) + "\n")
	}
	return text.String()
}

var complaint = regexp.MustCompile(`(?i)\b(warn|warning|error|fatal|panic|exception)\b`)

func cut(text string, length int) string {
	if len(text) > length {
		return text[:length] + "…"
	}
	return text
}

// environment returns the test's environment without variables that add JVM options or make JVMs print a line.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains([]string{"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"}, name)
	})
}

// clip returns the end of a text.
func clip(text string) string {
	const limit = 3000
	if len(text) > limit {
		return "…" + text[len(text)-limit:]
	}
	return text
}

func (p *process) collect(from io.Reader, lines *[]string) {
	r := bufio.NewReader(from)
	for {
		line, err := r.ReadString('\n')
		if line != "" {
			p.mu.Lock()
			*lines = append(*lines, strings.TrimRight(line, "\n"))
			p.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

func (p *process) outLines() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.stdout...)
}

func (p *process) errLines() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.stderr...)
}

func (p *process) running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// wait waits for the end of the program and returns its exit code.
func (p *process) wait(t *testing.T) int {
	t.Helper()
	if !p.within(patience) {
		t.Fatalf("%s still runs after %v", p.cmd.Path, patience)
	}
	return p.cmd.ProcessState.ExitCode()
}

// within reports whether the program ends within a duration.
func (p *process) within(d time.Duration) bool {
	select {
	case <-p.exited:
		return true
	case <-time.After(d):
		return false
	}
}

// stop sends a signal and returns how long the program took to end.
func (p *process) stop(t *testing.T, signal syscall.Signal) time.Duration {
	t.Helper()
	begin := time.Now()
	require.NoError(t, p.cmd.Process.Signal(signal))
	p.wait(t)
	return time.Since(begin)
}

// nextPort starts below Linux's ephemeral ports, so that no outgoing connection takes one before a program listens on it.
var nextPort = 12000 + rand.IntN(12000)

// freeAddress returns an unused local address, a different one each time.
func freeAddress(t *testing.T) string {
	t.Helper()
	for {
		nextPort++
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", nextPort))
		if err == nil {
			require.NoError(t, l.Close())
			return l.Addr().String()
		}
		require.ErrorIs(t, err, syscall.EADDRINUSE)
	}
}

// dial connects to an agents' endpoint.
func dial(t *testing.T, endpoint string) net.Conn {
	t.Helper()
	scheme, address, _ := strings.Cut(endpoint, "://")
	connection, err := net.Dial(scheme, address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	return connection
}

// installed returns the path of a program that make e2e installs; without it the test fails.
func installed(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatalf("none of %v is installed: run make e2e, or scripts/need.sh promtool amtool", names)
	return ""
}
