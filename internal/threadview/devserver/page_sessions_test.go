// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package main_test

import (
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/browser"
	"github.com/weft-otel/weft/internal/viewapi"
)

var tabs = []string{"incidents", "requests", "threads", "locks", "flame", "monitors", "path", "log", "sessions"}

// full is true once the visible tab has loaded.
const full = `document.querySelectorAll("main .name, main tbody tr, main .line, main .incident, main .flame .plane, main .sample").length > 0`

func TestSessionsAreListed(t *testing.T) {
	t.Parallel()
	p := open(t, "s="+finished+"&tab=sessions")
	sessions := get[viewapi.Sessions](t, simulated(t), "sessions").Sessions
	p.Until(`document.querySelectorAll(".sessions tbody tr").length > 0`)
	assert.Len(t, p.Texts(".sessions tbody tr"), len(sessions))
	p.ClickText(".sessions tbody td", "deadlocked")
	p.Until(`location.hash.includes("s=` + deadlocked + `")`)
	p.Until(`document.querySelector(".attributes")?.innerText.includes("process.command_line")`)
	p.ClickText("button", "Show threads")
	settled(p)
	p.Choose("select.session", finished)
	p.Until(`location.hash.includes("s=` + finished + `")`)
	settled(p)
}

// With more sessions than one answer lists, the table loads all of them, and a link opens any of them at once.
func TestAllSessionsAreListed(t *testing.T) {
	t.Parallel()
	s := serve(t, "-more", "129") // 134 in all
	var last []viewapi.Session
	require.Eventually(t, func() bool { // the live one may not have started yet
		last = get[viewapi.Sessions](t, s, "sessions?offset=133").Sessions
		return len(last) == 1
	}, browser.Patience, 10*time.Millisecond)
	oldest := last[0]
	p := openAt(t, chromium(t), s, "s="+oldest.ID, browser.Window{})
	settled(p)
	assert.Contains(t, browser.Eval[string](p, `document.querySelector("select.session").selectedOptions[0].innerText`), oldest.Service)
	p.Click("#tab-sessions")
	p.Until(`document.querySelector(".sessions .panel .hint")?.innerText.includes("100 of 134 sessions so far")`)
	assert.Equal(t, "134", p.Text("#tab-sessions .count"))
	browser.Eval[any](p, `void (document.querySelector(".sessions .table").scrollTop = 1e9)`)
	p.Until(`document.querySelector(".sessions table").ariaRowCount === "134"`)
	p.Until(`!document.querySelector(".sessions .panel .hint").innerText.includes("so far")`)
}

func TestDeadlockIsShown(t *testing.T) {
	t.Parallel()
	p := openLanes(t, "s="+deadlocked)
	session := get[viewapi.Session](t, simulated(t), "sessions/"+deadlocked)
	banner := p.Text(".banner.bad")
	for _, member := range session.Deadlocks[0].Members {
		assert.Contains(t, banner, member.Thread.Name)
	}
	assert.Contains(t, p.Text(".banner.warn"), "events were lost")
	p.Until(`document.querySelector(".answer p")?.innerText.includes("is deadlocked and will never finish")`)
	untilPixels(t, p, "state-deadlocked", atLeast(1000))
	untilPixels(t, p, "state-unknown", atLeast(100))
	untilPixels(t, p, "gap", atLeast(50))
	p.Click(".banner.bad .link")
	p.Until(`document.querySelector(".name.chosen.stuck")`)
}

func TestLiveSessionIsFollowedAndPaused(t *testing.T) {
	t.Parallel()
	p := openLanes(t, "s="+live)
	to := browser.Eval[float64](p, "weftPlane.limits.to")
	p.Until("weftPlane.limits.to > " + number(to))
	p.ClickText(".status button", "Live")
	p.Until(`document.querySelector(".status button").innerText.includes("Paused")`)
	view := browser.Eval[string](p, "JSON.stringify(weftPlane.view)")
	stopped := number(browser.Eval[float64](p, "weftPlane.limits.to"))
	p.Until("weftPlane.limits.to > " + stopped) // the session advances …
	assert.Equal(t, view, browser.Eval[string](p, "JSON.stringify(weftPlane.view)"), "… and the view does not")
	p.ClickText(".status button", "Paused")
	p.Until("weftPlane.view.to === weftPlane.limits.to && weftPlane.view.to > " + stopped)
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// Names come from other programs, and may try to inject code.
func TestNamesAreEscaped(t *testing.T) {
	t.Parallel()
	p := open(t, "s="+finished+"&tab=sessions&arrows=handoff")
	browser.Eval[any](p, `void (window.alert = () => { window.injected = true; })`)
	for _, tab := range tabs {
		p.Click("#tab-" + tab)
		if tab == "threads" {
			settled(p)
		}
		p.Until(full)
		if tab == "threads" || tab == "monitors" || tab == "log" {
			p.Until(`document.body.innerText.includes("<img src=x onerror=alert(")`)
		}
		assert.Zero(t, browser.Eval[int](p, `document.querySelectorAll("img, iframe, object, script:not([src='app.js'])").length`), tab)
		assert.False(t, browser.Eval[bool](p, "!!window.injected"), tab)
	}
	p = open(t, "s="+finished+"&name=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E&q=%3Cscript%3E&class=%3Cb%3E")
	p.Until(`document.querySelector(".empty-state h2")`)
	assert.Zero(t, browser.Eval[int](p, `document.querySelectorAll("img, b").length`))
}

// Each control and table has a name for screen readers.
func TestControlsAndTablesHaveAccessibleNames(t *testing.T) {
	t.Parallel()
	p := open(t, "s="+finished)
	for _, tab := range tabs {
		p.Click("#tab-" + tab)
		p.Until(full)
		assert.Empty(t, browser.Eval[[]string](p, `[...document.querySelectorAll("button, a, select, input, table, [role=application], [role=img], dialog")]
			.filter((e) => !(e.ariaLabel || e.textContent.trim() || e.closest("label")?.textContent.trim() || e.getAttribute("title")))
			.map((e) => e.outerHTML.slice(0, 200))`), tab)
		assert.Empty(t, browser.Eval[[]string](p, `[...document.querySelectorAll("th")].filter((e) => !e.scope).map((e) => e.outerHTML)`), tab)
		assert.Empty(t, browser.Eval[[]string](p, `[...document.querySelectorAll("[id]")].map((e) => e.id).filter((id, i, all) => all.indexOf(id) !== i)`), tab)
	}
}

// It does not run in parallel: the theme is stored for all tabs.
func TestThemesDiffer(t *testing.T) {
	p := openLanes(t, early)
	ground := func() string { return browser.Eval[string](p, "getComputedStyle(document.body).backgroundColor") }
	light := ground()
	p.Click(`[aria-label^="System"]`)
	p.Click(`[aria-label^="Light"]`)
	p.Until(`document.documentElement.dataset.theme === "dark"`)
	assert.NotEqual(t, light, ground())
	untilPixels(t, p, "state-blocked", atLeast(200)) // the canvas follows
	p.Click(`[aria-label^="Dark"]`)
	dark := openWindow(t, early, browser.Window{Dark: true})
	dark.Until(`document.documentElement.dataset.theme === "dark"`)
}

func TestLinkRestoresTheView(t *testing.T) {
	t.Parallel()
	p := openLanes(t, early)
	p.Click("[data-state=parked]")
	p.Click("[data-kind=notify]")
	p.Click(".button.path")
	p.Press("g")
	p.Click(".name:not(.head)")
	p.Until(`location.hash.includes("hide=parked") && location.hash.includes("path=") && location.hash.includes("group=group") && location.hash.includes("at=")`)
	settled(p)
	other := openLanes(t, strings.TrimPrefix(browser.Eval[string](p, "location.hash"), "#"))
	for _, what := range []string{
		"location.hash", "JSON.stringify(weftPlane.view)", `[...document.querySelectorAll("[aria-pressed]")].map((e) => e.innerText + e.ariaPressed).join()`,
		`[...document.querySelectorAll(".name")].map((e) => e.innerText).join()`,
	} {
		deadline := time.Now().Add(browser.Patience)
		for { // counts of arrows may still be loading
			one, two := browser.Eval[string](p, what), browser.Eval[string](other, what)
			if one == two {
				break
			}
			require.True(t, time.Now().Before(deadline), "%s: %s, %s", what, one, two)
			other.Painted()
		}
	}
	p.ClickText(".tabs button", "Critical path")
	p.Until(`document.querySelector(".path-view")`)
	browser.Eval[any](p, "history.back()")
	p.Until(`document.querySelector("#tab-threads").ariaSelected === "true"`)
}

func TestImageIsSaved(t *testing.T) {
	t.Parallel()
	for _, tab := range []string{"threads", "locks"} {
		dir := t.TempDir()
		p := openWindow(t, "s="+finished+"&tab="+tab, browser.Window{Downloads: dir})
		p.Until(`document.querySelector(".lanes .name")`)
		p.Painted()
		p.Click(`[aria-label="Save as image"]`)
		var files []string
		require.Eventually(t, func() bool {
			files, _ = filepath.Glob(filepath.Join(dir, "*.png"))
			return len(files) == 1
		}, browser.Patience, 20*time.Millisecond)
		file, err := os.Open(files[0])
		require.NoError(t, err)
		picture, err := png.Decode(file)
		require.NoError(t, err)
		require.NoError(t, file.Close())
		assert.Greater(t, picture.Bounds().Dx(), 1000)
		assert.Greater(t, colorsIn(picture, picture.Bounds()), 20, "the image shows lanes of %s", tab)
		names := picture.Bounds()
		names.Min.Y, names.Max.X = 60, 230
		assert.Greater(t, colorsIn(picture, names), 2, "the image has names of %s", tab)
	}
}

// colorsIn counts the colors in a part of a picture, of 4,096.
func colorsIn(picture image.Image, part image.Rectangle) int {
	colors := map[uint32]bool{}
	for x := part.Min.X; x < part.Max.X; x++ {
		for y := part.Min.Y; y < part.Max.Y; y++ {
			r, g, b, _ := picture.At(x, y).RGBA()
			colors[r>>12<<8|g>>12<<4|b>>12] = true
		}
	}
	return len(colors)
}

func TestPageWorksBelowAPathPrefix(t *testing.T) {
	t.Parallel()
	s := serve(t, "-prefix", "/tools/weft/")
	p := chromium(t).Open(t, s.address+"tools/weft/#s="+locks, browser.Window{})
	settled(p)
	p.Until(`document.querySelector(".answer .lock-name")`)
}

func TestPageReportsALostServer(t *testing.T) {
	t.Parallel()
	s := serve(t)
	p := chromium(t).Open(t, s.address+"#s="+finished, browser.Window{})
	settled(p)
	p.Expect("ERR_")
	s.stop()
	p.Until(`document.querySelector(".banner.warn")?.innerText.includes("does not respond")`)
	p.Click("#tab-path") // requests fail meanwhile, and are repeated
	p.Until(`document.querySelector(".path-view .problem")`)
	require.NoError(t, s.start(s.host))
	p.Until(`!document.querySelector(".banner.warn") && !document.querySelector(".problem") && document.querySelectorAll(".path-view tbody tr").length > 0`)
}
