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
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience is for what takes seconds at most when nothing is wrong, on a machine that has much else to do.
const patience = 10 * time.Minute

// poll waits until a condition holds. To look at it again and again takes a part of a processor only: what is waited for needs the rest.
func poll(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		looked := time.Now()
		if condition() {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %v still not: %s", patience, what)
		}
		time.Sleep(max(10*time.Millisecond, 3*time.Since(looked)))
	}
}

// process is a program that runs, and what it wrote.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	exited chan struct{} // closed when it ended

	mu     sync.Mutex
	stdout []string
	stderr []string
}

// start runs a program until it ends or the test does. What it wrote is shown if the test failed.
func start(t *testing.T, env []string, name string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(name, args...), exited: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
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
		_ = p.cmd.Process.Kill() // it may have ended
		<-p.exited
		if t.Failed() {
			t.Logf("%s wrote:\n%s", name, clip(strings.Join(append(p.outLines(), p.errLines()...), "\n")))
		}
	})
	return p
}

func clip(text string) string {
	const limit = 6000
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
	select {
	case <-p.exited:
	case <-time.After(patience):
		t.Fatalf("%s still runs after %v", p.cmd.Path, patience)
	}
	return p.cmd.ProcessState.ExitCode()
}

// stop sends a signal and waits; it returns how long the end took.
func (p *process) stop(t *testing.T, signal syscall.Signal) time.Duration {
	t.Helper()
	begin := time.Now()
	require.NoError(t, p.cmd.Process.Signal(signal))
	p.wait(t)
	return time.Since(begin)
}

// nextPort begins below where Linux takes ports for outgoing connections from, so that none is taken before a program listens on it.
var nextPort = 12000 + rand.IntN(12000)

// freeAddress returns an address of this machine that nobody listens on, and never the same again.
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

// dial connects to where agents do.
func dial(t *testing.T, endpoint string) net.Conn {
	t.Helper()
	scheme, address, _ := strings.Cut(endpoint, "://")
	connection, err := net.Dial(scheme, address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	return connection
}

// installed returns the path of a program, or ends the test: what make e2e installs has to be there.
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
