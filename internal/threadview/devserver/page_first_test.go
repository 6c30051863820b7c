// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package main_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/browser"
	"github.com/weft-otel/weft/internal/viewapi"
)

// catchCopies keeps what the page copies in the variable copied.
const catchCopies = `void (navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); })`

// Without a session, the page has the commands to attach a JVM to this collector, and says who was refused. It changes with the first session.
func TestFirstMinute(t *testing.T) {
	t.Parallel()
	s := serve(t, "-empty")
	p := chromium(t).Open(t, s.address, browser.Window{})
	p.Until(`document.querySelectorAll(".welcome .refused li").length === 2`)
	assert.Equal(t, "No JVM connected yet", p.Text(".welcome h2"))
	browser.Eval[any](p, catchCopies)
	p.Click(".command .button")
	p.Until(`window.copied`)
	assert.Equal(t, "weft attach PID service=orders endpoint=tls://collector.example:4327 ca-file=/path/to/ca.pem token-file=/path/to/token",
		browser.Eval[string](p, "copied"))
	commands := p.Texts(".command code")
	require.Len(t, commands, 3)
	for _, command := range commands[1:] {
		assert.Contains(t, command, "-agentpath:/path/to/libweft.so=service=orders,endpoint=tls://collector.example:4327,ca-file=")
	}
	refused := p.Texts(".refused li")
	assert.Contains(t, refused[0], "<img src=x onerror=alert(1)>, PID 4711 from 10.1.2.4:51200 (3 times): credentials are missing or invalid. Set the agent's token-file")
	assert.Contains(t, refused[1], "an unknown program from 10.1.2.3:40112: unsupported protocol version 2, want 1.")
	assert.Zero(t, browser.Eval[int](p, `document.querySelectorAll("img").length`))

	response, err := http.Get(s.address + "begin")
	require.NoError(t, err)
	_ = response.Body.Close()
	p.Until(`document.querySelector("select.session") && !document.querySelector(".welcome")`)
	p.Click("#tab-sessions")
	p.Until(`document.querySelectorAll(".sessions .refused li").length === 2`)
}

// All keys and marks are on one screen, by keyboard and without scrolling.
func TestHelpFitsOnAScreen(t *testing.T) {
	t.Parallel()
	for _, window := range []browser.Window{{Width: 1280, Height: 800}, {Width: 1440, Height: 900, Dark: true}} {
		p := openWindow(t, "s="+locks, window)
		answered(p)
		focus(p, "#tab-threads")
		for _, closing := range []string{"?", kb.Escape} {
			p.Press("?")
			p.Until(`document.querySelector("dialog[open] .help")`)
			assert.True(t, browser.Eval[bool](p, `[document.querySelector("dialog"), document.querySelector(".help")].every((e) => e.scrollHeight <= e.clientHeight)`))
			assert.True(t, browser.Eval[bool](p, `[...document.querySelectorAll(".help section")].every((e) => e.getBoundingClientRect().bottom < innerHeight)`))
			p.Press(kb.Tab)
			p.Press(kb.Tab)
			assert.True(t, browser.Eval[bool](p, `document.activeElement === document.body || !!document.activeElement.closest("dialog")`), "the focus stays inside")
			p.Press(closing)
			p.Until(`!document.querySelector("dialog") && document.activeElement.id === "tab-threads"`)
		}
		p.Close()
	}
}

// Times are those of the browser's zone, whose name is on the page.
func TestTimesAreLocal(t *testing.T) {
	t.Parallel()
	session := get[viewapi.Session](t, simulated(t), "sessions/"+finished)
	for zone, name := range map[string]string{"Asia/Tokyo": "GMT+9", "America/Phoenix": "GMT-7"} {
		p := openWindow(t, "s="+finished+"&tab=sessions", browser.Window{Width: 1280, Height: 800, Zone: zone})
		where, err := time.LoadLocation(zone)
		require.NoError(t, err)
		ns, err := time.ParseDuration(session.Origin + "ns")
		require.NoError(t, err)
		began := time.Unix(0, int64(ns)).In(where)
		p.Until(`document.querySelector(".zone")`)
		assert.Equal(t, name, p.Text(".zone"))
		assert.Equal(t, began.Format("2006-01-02T15:04:05-07:00"), browser.Eval[string](p, `document.querySelector(".zone").dateTime`))
		assert.Contains(t, browser.Eval[string](p, `document.querySelector(".zone").title`), zone)
		assert.Contains(t, browser.Eval[string](p, `document.querySelector("select.session").selectedOptions[0].innerText`), began.Format("15:04:05"))
		p.Until(`document.querySelectorAll(".sessions tbody tr").length > 0`)
		assert.Contains(t, strings.Join(p.Texts(".sessions tbody tr.chosen"), ""), began.Format("15:04:05"))
		p.Close()
	}
}

// A shared link says in words what it showed. Whoever opens it when the session is gone learns that, and how to keep more.
func TestSharedLinkOutlivesItsSession(t *testing.T) {
	t.Parallel()
	p := openWindow(t, "s="+finished+"&at=8.4&range=1000000000-1500000000", browser.Window{Width: 1280, Height: 800, Zone: "UTC"})
	settled(p)
	p.Until(`document.querySelector(".name.chosen")`)
	name := browser.Eval[string](p, `document.querySelector(".name.chosen .text").innerText`)
	browser.Eval[any](p, catchCopies)
	p.Click("[title='Copy a link to this view']")
	p.Until("window.copied")
	link, err := url.Parse(browser.Eval[string](p, "copied"))
	require.NoError(t, err)
	fields, err := url.ParseQuery(link.Fragment)
	require.NoError(t, err)
	assert.Equal(t, "finished", fields.Get("was"))
	assert.Equal(t, name, fields.Get("who"))

	again := openAt(t, chromium(t), simulated(t), link.Fragment, browser.Window{})
	again.Until(`document.querySelector(".name.chosen")`)
	again.Until(`!location.hash.includes("was=")`) // the session is there: the words have served

	gone := strings.Replace(link.Fragment, finished, "a00000000000000000000000000000ff", 1)
	p = openAt(t, chromium(t), simulated(t), gone+"&for="+url.QueryEscape("<img src=x>\u202e"), browser.Window{Width: 1280, Height: 800, Zone: "UTC"})
	p.Until(`document.querySelector(".was")`)
	text := p.Text(".was")
	session := get[viewapi.Session](t, simulated(t), "sessions/"+finished)
	ns, err := time.ParseDuration(session.Origin + "ns")
	require.NoError(t, err)
	from := time.Unix(0, int64(ns)).UTC().Add(time.Second)
	assert.Contains(t, text, "The link showed Threads of finished, ")
	assert.Contains(t, text, from.Format("15:04:05")+" – ")
	assert.Contains(t, text, "(UTC), with thread "+name+" and lock <img src=x>.")
	assert.Contains(t, p.Text(".empty-state"), "raise max_bytes of thread_view")
	assert.Zero(t, browser.Eval[int](p, `document.querySelectorAll("img").length`))
}

// So does one whose session is there, but not its time.
func TestSharedLinkOutlivesItsTime(t *testing.T) {
	t.Parallel()
	s := serve(t, "-more", "300", "-max-bytes", "524288", "-live=false")
	list := get[viewapi.Sessions](t, s, "sessions").Sessions
	i := slices.IndexFunc(list, func(one viewapi.Session) bool { return one.Evicted > 0 && one.From == one.To && one.Incidents > 0 })
	require.GreaterOrEqual(t, i, 0, "a session of which only incidents are left")
	p := openAt(t, chromium(t), s, "s="+list[i].ID+"&range=1-2&was=job&began=1774721112000-1774721113000&who=main", browser.Window{Width: 1280, Height: 800, Zone: "UTC"})
	p.Until(`document.querySelector("#app > .banner")`)
	assert.Contains(t, p.Text("#app > .banner"),
		"The link showed Threads of job, 2026-03-28 18:05:12 – 18:05:13 (UTC), with thread main. This time is no longer stored; incidents of it may be left.")
	p.Click("#app > .banner button")
	p.Until(`!document.querySelector("#app > .banner") && !location.hash.includes("was=")`)
}

// A printed page has light colors, whole tables, and what it shows instead of controls.
func TestPaper(t *testing.T) {
	t.Parallel()
	s := serve(t, "-more", "60", "-live=false")
	p := openAt(t, chromium(t), s, "s="+finished+"&tab=sessions", browser.Window{Width: 1100, Height: 400, Dark: true})
	answered(p)
	p.Until(`document.querySelectorAll(".sessions .table tbody tr").length > 2`)
	rows := browser.Eval[int](p, `+document.querySelector(".sessions table").ariaRowCount`)
	p.Until(`document.querySelectorAll(".sessions .table tbody tr[id]").length < ` + number(float64(rows)))
	p.Paper()
	p.Until(`document.querySelectorAll(".sessions .table tbody tr[id]").length === ` + number(float64(rows)))
	assert.Equal(t, "light", browser.Eval[string](p, "document.documentElement.dataset.theme"))
	assert.Contains(t, p.Text(".printed"), "finished: Sessions")
	assert.Contains(t, p.Text(".printed .address"), "s="+finished)
	assert.True(t, browser.Eval[bool](p, `[".top", "nav", "main .button"].every((e) => document.querySelector(e).checkVisibility() === false)`))
	assert.LessOrEqual(t, browser.Eval[int](p, "document.documentElement.scrollWidth"), 1100)
	p.Dark(true) // a screen again
	browser.Eval[any](p, `void dispatchEvent(new Event("afterprint"))`)
	p.Until(`document.documentElement.dataset.theme === "dark" && document.querySelectorAll(".sessions .table tbody tr[id]").length < ` + number(float64(rows)))
}

// A printer lays out the page once more without a resize event. The canvas must not stretch: each lane stays next to its name.
func TestLanesOnPaper(t *testing.T) {
	t.Parallel()
	p := openWindow(t, "s="+finished+"&tab=threads", browser.Window{Width: 1280, Height: 800})
	settled(p)
	screen := browser.Eval[int](p, "weftPlane.canvas.clientHeight")
	browser.Eval[any](p, "weftPlane.observer.disconnect()")
	p.Paper()
	paper := browser.Eval[[]int](p, `[weftPlane.canvas.clientHeight, document.querySelector(".lanes").clientHeight]`)
	assert.Equal(t, screen, paper[0])
	assert.InDelta(t, min(float64(screen), 115*96/25.4), paper[1], 1, "the height of the lanes is limited to fit on a page")
}
