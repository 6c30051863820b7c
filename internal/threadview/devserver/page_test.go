// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package main_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/browser"
)

// The simulated sessions of the development server; their content is always the same.
const (
	finished   = "a0000000000000000000000000000001"
	live       = "a0000000000000000000000000000002"
	deadlocked = "a0000000000000000000000000000004"
	locks      = "a0000000000000000000000000000005"
	requests   = "a0000000000000000000000000000009"
)

// server is a process of the development server.
type server struct {
	host    string // and port
	address string // http://host:port/
	process *exec.Cmd
	binary  string
	options []string
}

var (
	builtServer = sync.OnceValues(func() (string, error) {
		dir, err := os.MkdirTemp("", "weft-page-")
		if err != nil {
			return "", err
		}
		ends = append(ends, func() { _ = os.RemoveAll(dir) })
		path := filepath.Join(dir, "devserver")
		out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("%w: %s", err, out)
		}
		return path, nil
	})
	// Tests share a server and a browser; each has its own tab.
	sharedServer = sync.OnceValues(func() (*server, error) {
		s, err := newServer()
		if err == nil {
			ends = append(ends, s.stop)
		}
		return s, err
	})
	sharedBrowser = sync.OnceValues(func() (*browser.Browser, error) {
		b, end, err := browser.Launch()
		if err == nil {
			ends = append(ends, end)
		}
		return b, err
	})
	ends []func()
)

func TestMain(m *testing.M) {
	code := m.Run()
	for _, end := range ends {
		end()
	}
	os.Exit(code)
}

// serve starts a server for one test.
func serve(t testing.TB, more ...string) *server {
	t.Helper()
	s, err := newServer(more...)
	require.NoError(t, err)
	t.Cleanup(s.stop)
	return s
}

func newServer(more ...string) (*server, error) {
	binary, err := builtServer()
	if err != nil {
		return nil, err
	}
	s := &server{binary: binary, options: more}
	err = s.start("localhost:0")
	return s, err
}

// start starts the process and waits until it listens.
func (s *server) start(listen string) error {
	s.process = exec.Command(s.binary, append([]string{"-listen", listen, "-page", "../../../web/dist"}, s.options...)...)
	s.process.Stderr = os.Stderr
	out, err := s.process.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.process.Start(); err != nil {
		return err
	}
	line, err := bufio.NewReader(out).ReadString('\n') // its address, once it listens
	if err != nil {
		s.stop()
		return fmt.Errorf("start the server: %w", err)
	}
	address, err := url.Parse(strings.TrimSpace(line))
	if err != nil {
		s.stop()
		return err
	}
	s.host = address.Host
	s.address = "http://" + s.host + "/"
	return nil
}

func (s *server) stop() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}

// simulated returns the shared server.
func simulated(t testing.TB) *server {
	t.Helper()
	s, err := sharedServer()
	require.NoError(t, err)
	return s
}

// get requests from the API what the page should show.
func get[T any](t testing.TB, s *server, path string) T {
	t.Helper()
	response, err := http.Get(s.address + "api/" + path)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode, "%s: %s", path, body)
	var answer T
	require.NoError(t, json.Unmarshal(body, &answer))
	return answer
}

// open opens the page of the shared server in a new tab.
func open(t *testing.T, hash string) *browser.Page {
	t.Helper()
	return openWindow(t, hash, browser.Window{})
}

func openWindow(t *testing.T, hash string, w browser.Window) *browser.Page {
	t.Helper()
	return openAt(t, chromium(t), simulated(t), hash, w)
}

// chromium returns the shared browser.
func chromium(t *testing.T) *browser.Browser {
	t.Helper()
	b, err := sharedBrowser()
	if errors.Is(err, browser.ErrMissing) && os.Getenv("CI") == "" {
		t.Skipf("NOTHING WAS TESTED IN A BROWSER: %v", err)
	}
	require.NoError(t, err)
	return b
}

// openAt opens the page of a server in a new tab and waits until a view is loaded.
func openAt(t *testing.T, b *browser.Browser, s *server, hash string, w browser.Window) *browser.Page {
	t.Helper()
	p := b.Open(t, s.address+"#"+hash, w)
	p.Until(`document.querySelector("main")?.children.length > 0`)
	return p
}

// openLanes opens the lanes of threads, and waits until they are complete.
func openLanes(t *testing.T, hash string) *browser.Page {
	t.Helper()
	p := open(t, hash)
	settled(p)
	return p
}

// answered waits until the first sentence is complete: after that the layout is stable.
func answered(p *browser.Page) {
	p.Until(`document.querySelector(".answer:not([aria-busy=true])")`)
}

// settled waits until all visible lanes are loaded and painted.
func settled(p *browser.Page) {
	answered(p)
	p.Until(`window.weftPlane?.limits.to > 1 && weftPlane.cache.complete() && document.querySelectorAll(".name").length > 0`)
	p.Painted()
}

// untilPixels waits until the lanes have enough pixels of a color.
func untilPixels(t *testing.T, p *browser.Page, variable string, enough func(n int) bool) {
	t.Helper()
	deadline := time.Now().Add(browser.Patience)
	for n := pixels(p, variable); !enough(n); n = pixels(p, variable) {
		require.True(t, time.Now().Before(deadline), "%s: %d pixels", variable, n)
		p.Painted()
	}
}

func none(n int) bool                  { return n == 0 }
func atLeast(least int) func(int) bool { return func(n int) bool { return n >= least } }

// pixels counts the pixels of the lanes whose color is close to that of a CSS variable.
func pixels(p *browser.Page, variable string) int {
	return browser.Eval[int](p, fmt.Sprintf(`(() => {
		const one = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
		one.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--%s");
		one.fillRect(0, 0, 1, 1);
		const [r, g, b] = one.getImageData(0, 0, 1, 1).data;
		const canvas = document.querySelector("canvas.plane");
		one.canvas.width = canvas.width;
		one.canvas.height = canvas.height;
		one.drawImage(canvas, 0, 0);
		const {data} = one.getImageData(0, 0, canvas.width, canvas.height);
		let n = 0;
		for (let i = 0; i < data.length; i += 4) if (Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 12) n++;
		return n;
	})()`, variable))
}
