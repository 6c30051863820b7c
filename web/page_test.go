// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package web_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/browser"
)

// The sessions of the development server, which are simulated: what they hold is the same each time.
const (
	finished   = "a0000000000000000000000000000001"
	live       = "a0000000000000000000000000000002"
	deadlocked = "a0000000000000000000000000000004"
)

// server is the real server of the page, over simulated sessions.
type server struct {
	address string
	process *exec.Cmd
}

var builtServer = sync.OnceValues(func() (string, error) { //nolint:gochecknoglobals // built once for all tests
	dir, err := os.MkdirTemp("", "weft-page-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "devserver")
	out, err := exec.Command("go", "build", "-o", path, "../exporter/threadviewexporter/internal/devserver").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := builtServer(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

func serve(t testing.TB, more ...string) *server {
	t.Helper()
	binary, err := builtServer()
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "localhost:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	s := &server{address: "http://" + address + "/"}
	s.start(t, append([]string{binary, "-listen", address, "-page", "dist"}, more...))
	return s
}

func (s *server) start(t testing.TB, command []string) {
	t.Helper()
	s.process = exec.Command(command[0], command[1:]...) //nolint:gosec // what this test has built
	require.NoError(t, s.process.Start())
	t.Cleanup(s.stop)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if connection, err := net.Dial("tcp", s.host()); err == nil {
			require.NoError(t, connection.Close())
			return
		}
		require.True(t, time.Now().Before(deadline), "the server does not start")
	}
}

func (s *server) host() string {
	u, _ := url.Parse(s.address)
	return u.Host
}

func (s *server) stop() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}

// get asks the API what the page should show.
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

var shared = struct { //nolint:gochecknoglobals // a browser and a server for all tests of the page: each has its own tab
	browser *browser.Browser
	server  *server
}{}

// TestPage operates the page as a person would. Its parts share a browser and a server.
func TestPage(t *testing.T) {
	shared.browser = browser.Start(t)
	shared.server = serve(t)
	for name, test := range map[string]func(*testing.T){
		"answer":   answerComesFirst,
		"states":   legendSwitchesStates,
		"arrows":   legendSwitchesArrows,
		"path":     pathIsDrawn,
		"grouping": threadsAreGrouped,
		"filter":   dialogFilters,
		"zoom":     viewZoomsAndPans,
		"keys":     keysWalk,
		"range":    rangeIsFollowedByTables,
		"detail":   clickShowsBothSides,
		"monitors": monitorTablesAddUp,
		"sorting":  allColumnsSort,
		"locks":    locksHaveLanes,
		"pathview": pathTableLeadsThere,
		"log":      logIsFiltered,
		"search":   searchLeadsThere,
		"sessions": sessionsAreListed,
		"deadlock": deadlockIsSaid,
		"live":     liveIsFollowedAndPaused,
		"hostile":  namesAreText,
		"names":    everythingHasAName,
		"themes":   themesDiffer,
		"link":     linkShowsTheSame,
		"picture":  pictureIsSaved,
	} {
		t.Run(name, test)
	}
}

// open opens the page in a new tab, and waits until its first picture is complete.
func open(t *testing.T, hash string) *browser.Page {
	t.Helper()
	return openWindow(t, hash, browser.Window{})
}

func openWindow(t *testing.T, hash string, w browser.Window) *browser.Page {
	t.Helper()
	p := shared.browser.Open(t, shared.server.address+"#"+hash, w)
	p.Until(`document.querySelector("main")?.children.length > 0`)
	return p
}

// openLanes opens the visualizer.
func openLanes(t *testing.T, hash string) *browser.Page {
	t.Helper()
	p := open(t, hash)
	settled(p)
	return p
}

// settled waits until all lanes that are in sight are there, and painted.
func settled(p *browser.Page) {
	p.Until(`window.weftPlane?.limits.to > 1 && weftPlane.cache.complete() && document.querySelectorAll(".name").length > 0`)
	painted(p)
}

// painted waits for two frames: what was asked for in the first is on the screen in the second.
func painted(p *browser.Page) {
	browser.Eval[any](p, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))`)
}

// untilPixels waits until the lanes have that many pixels of a colour.
func untilPixels(t *testing.T, p *browser.Page, variable string, enough func(n int) bool) {
	t.Helper()
	n := 0
	require.Eventually(t, func() bool {
		n = pixels(p, variable)
		return enough(n)
	}, 20*time.Second, 20*time.Millisecond, "%s", variable)
}

func none(n int) bool                  { return n == 0 }
func atLeast(least int) func(int) bool { return func(n int) bool { return n >= least } }
func exactly(want int) func(int) bool  { return func(n int) bool { return n == want } }

// pixels counts the pixels of the lanes that have nearly the colour of a variable.
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
