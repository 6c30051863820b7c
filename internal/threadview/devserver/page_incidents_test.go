// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package main_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/browser"
	"github.com/weft-otel/weft/internal/viewapi"
)

// Of a session without windows, the page shows its incidents and says that its timeline is no longer stored, also after a link from Jaeger.
func TestIncidentsOfEvictedWindows(t *testing.T) {
	t.Parallel()
	s := serve(t, "-more", "300", "-max-bytes", "524288", "-live=false") // a live session would evict what the test looks at
	list := get[viewapi.Sessions](t, s, "sessions").Sessions
	i := slices.IndexFunc(list, func(one viewapi.Session) bool { return one.Evicted > 0 && one.From == one.To && one.Incidents > 0 })
	require.GreaterOrEqual(t, i, 0, "a session of which only incidents are left")
	emptied := list[i]
	incident := get[viewapi.Incidents](t, s, "sessions/"+emptied.ID+"/incidents").Incidents[0]
	assert.Equal(t, "gone", incident.Timeline)

	p := openAt(t, chromium(t), s, "s="+emptied.ID, browser.Window{})
	p.Until(`document.querySelector("main").innerText.includes("The timeline of this JVM is no longer stored")`)
	p.ClickText("main button", "Show incidents")
	p.Until(`document.querySelector(".incident")`)
	assert.Contains(t, p.Text(".incident-row"), incident.Text)
	assert.Contains(t, p.Text(".incident-row"), "timeline no longer stored")
	assert.Contains(t, p.Text(".incidents .banner"), "The timeline of this JVM is no longer stored")
	p.Click(".incident-title") // leads to no timeline
	p.Until(`document.querySelector(".incident-details .frames")`)
	for _, part := range slices.Concat(incident.Holds, incident.Waits) {
		assert.Contains(t, p.Text(".incident-details"), part.Text)
	}
	if dir := os.Getenv("WEFT_PICTURES"); dir != "" {
		p.Screenshot(filepath.Join(dir, "incidents.png"))
	}

	origin, err := strconv.ParseInt(emptied.Origin, 10, 64)
	require.NoError(t, err)
	p = openAt(t, chromium(t), s, fmt.Sprintf("s=%s&time=%d&length=%d&thread=1", emptied.ID, (origin+incident.From)/1000, 2000), browser.Window{})
	p.Until(`document.querySelector(".incident")`)
	assert.Contains(t, p.Text(".incidents .banner"), "no longer stored")
}

// Incidents say what happened, when, and what it cost. A click leads to the lanes of the threads that took part.
func TestIncidentLeadsToItsTimeline(t *testing.T) {
	t.Parallel()
	incident := get[viewapi.Incidents](t, simulated(t), "sessions/"+locks+"/incidents").Incidents[1]
	p := open(t, "s="+locks+"&tab=incidents")
	p.Until(`document.querySelectorAll(".incident").length > 1`)
	assert.NotContains(t, p.Text("main"), "no longer stored")
	if dir := os.Getenv("WEFT_PICTURES"); dir != "" {
		p.Screenshot(filepath.Join(dir, "incidents-held.png"))
	}
	row := p.Text(".incident:nth-child(2) .incident-row")
	for _, part := range []string{"contention", "report held OrderBook.lock for 240 ms, asleep in Report.write", "3 × matcher-*", "in Matcher.match", "696 ms", "244 ms"} {
		assert.Contains(t, row, part)
	}
	assert.Regexp(t, `^\d\d:\d\d:\d\d`, row)
	assert.Regexp(t, `^6 incidents in which threads waited [0-9.]+ s all together, since \d\d:\d\d:\d\d`, p.Text(".incident-sum"))

	p.Click(".incident:nth-child(2) .incident-title")
	p.Until(`location.hash.includes("range=")`)
	link := hashOf(t, p)
	assert.Equal(t, "threads", link.Get("tab"))
	var cast []string
	for _, id := range incident.Cast {
		cast = append(cast, strconv.FormatUint(id, 10))
	}
	assert.Equal(t, strings.Join(cast, "."), link.Get("cast"))
	assert.Equal(t, fmt.Sprintf("%d-%d", incident.From, incident.To), link.Get("range"))
	assert.Equal(t, fmt.Sprintf("%d.0", incident.Holds[0].Thread.ID), link.Get("at"))
	assert.Equal(t, "0", link.Get("follow"))
	var from, to int64
	_, err := fmt.Sscanf(link.Get("view"), "%d-%d", &from, &to)
	require.NoError(t, err)
	assert.Less(t, from, incident.From)
	assert.Greater(t, to, incident.To)
	p.Until(`document.querySelector("[role=tab][aria-selected=true]").innerText === "Threads"`)
	p.Do(chromedp.NavigateBack())
	p.Until(`document.querySelectorAll(".incident").length > 1`)
}

// hashOf returns what the address of the page holds.
func hashOf(t *testing.T, p *browser.Page) url.Values {
	t.Helper()
	values, err := url.ParseQuery(browser.Eval[string](p, "location.hash.slice(1)"))
	require.NoError(t, err)
	return values
}

// Filters and order show what the API does; the link keeps them.
func TestIncidentFilters(t *testing.T) {
	t.Parallel()
	list := func(query string) (texts []string) {
		for _, inc := range get[viewapi.Incidents](t, simulated(t), "sessions/"+finished+"/incidents"+query).Incidents {
			texts = append(texts, inc.Text)
		}
		return texts
	}
	p := open(t, "s="+finished+"&tab=incidents")
	shows := func(texts []string) {
		t.Helper()
		require.NotEmpty(t, texts)
		text, err := json.Marshal(texts)
		require.NoError(t, err)
		p.Until(fmt.Sprintf(`JSON.stringify([...document.querySelectorAll(".incident-title")].map((one) => one.textContent)) === JSON.stringify(%s)`, text))
	}
	shows(list(""))
	p.ClickText("main button", "Newest first")
	shows(list("?sort=from"))
	p.Click("[data-kind=contention]")
	shows(list("?sort=from&kind=contention"))
	assert.Equal(t, "true", browser.Eval[string](p, `document.querySelector("[data-kind=contention]").ariaPressed`))
	p.Type("main input[type=search]", "reentrant")
	shows(list("?sort=from&kind=contention&lock=reentrant"))
	p.Until(`location.hash.includes("about=reentrant")`)
	link := hashOf(t, p)
	assert.Equal(t, []string{"1", "contention"}, []string{link.Get("newest"), link.Get("kinds")})

	p = open(t, link.Encode())
	shows(list("?sort=from&kind=contention&lock=reentrant"))
	assert.Equal(t, "true", browser.Eval[string](p, `document.querySelector("[data-kind=contention]").ariaPressed`))
	p.Type("main input[type=search]", " no such lock")
	p.Until(`document.querySelector(".empty-state")?.innerText.includes("No incident matches")`)
	p.ClickText(".empty-state button", "Clear the filters")
	shows(list("?sort=from"))
	p.Type("main input[type=search]", "pool-1-thread-17") // a thread
	shows(list("?sort=from&thread=pool-1-thread-17"))
}

// The arrow keys choose a row, Space opens its details, and Enter leads to the lanes.
func TestIncidentKeys(t *testing.T) {
	t.Parallel()
	p := open(t, "s="+locks+"&tab=incidents")
	p.Until(`document.querySelectorAll(".incident").length > 2`)
	chosen := func(i int) string {
		return fmt.Sprintf(`document.querySelectorAll(".incident-title")[%d] === document.activeElement`, i)
	}
	p.Press(kb.ArrowDown)
	p.Until(chosen(0))
	p.Press(kb.ArrowDown)
	p.Press(kb.ArrowDown)
	p.Until(chosen(2))
	p.Press(kb.ArrowUp)
	p.Until(chosen(1))
	p.Press(" ")
	p.Until(`document.querySelector(".incident:nth-child(2) .incident-details")`)
	p.Press(kb.ArrowLeft)
	p.Until(`!document.querySelector(".incident-details")`)
	p.Press(kb.ArrowRight)
	p.Until(`document.querySelector(".incident:nth-child(2) [aria-expanded=true]")`)
	assert.Contains(t, p.Text(".incident-details"), "Who held")
	p.ClickText(".incident-details button", "Only OrderBook.lock")
	p.Until(`document.querySelectorAll(".incident").length === 5`)
	p.Press(kb.Home)
	p.Until(chosen(0))
	p.Press(kb.Enter)
	p.Until(`location.hash.includes("tab=threads") && location.hash.includes("cast=")`)
}

// A filter that is chosen while another one is being typed stays, however busy the page is.
func TestChosenFilterWins(t *testing.T) {
	t.Parallel()
	p := open(t, "s="+locks+"&tab=incidents")
	p.Until(`document.querySelectorAll(".incident").length > 2`)
	p.Press(kb.ArrowDown + kb.ArrowDown + kb.ArrowRight)
	p.Until(`document.querySelector(".incident-details")`)
	shown := browser.Eval[string](p, `new Promise((done) => {
		const field = document.querySelector("main input[type=search]");
		field.value = "matcher";
		field.dispatchEvent(new Event("input", {bubbles: true}));
		requestAnimationFrame(() => setTimeout(() => {
			[...document.querySelectorAll(".incident-details button")].find((one) => one.innerText.includes("Only OrderBook.lock")).click();
			for (const end = performance.now() + 400; performance.now() < end; ); // what was typed would be passed on now
			setTimeout(() => done(field.value), 0);
		}, 120));
	})`)
	require.Equal(t, "OrderBook.lock", shown)
	p.Until(`document.querySelectorAll(".incident").length === 5 && location.hash.includes("about=OrderBook.lock")`)
}

// A live session adds incidents to the list; the row in use does not move.
func TestIncidentsOfLiveSession(t *testing.T) {
	t.Parallel()
	s := serve(t, "-recurring", "-live=false")
	p := openAt(t, chromium(t), s, "s=a000000000000000000000000000000a&tab=incidents&newest=1", browser.Window{Width: 1280, Height: 400})
	p.Until(`(({scrollHeight, clientHeight} = {}) => scrollHeight > clientHeight)(document.querySelector(".incident-list") ?? undefined)`)
	p.Press(kb.ArrowDown)
	p.Until(`document.activeElement.matches(".incident-title")`)
	first := browser.Eval[string](p, `(() => {
		window.used = document.activeElement;
		window.before = used.getBoundingClientRect().top;
		return document.querySelector(".incident").textContent;
	})()`)
	p.Until(fmt.Sprintf(`document.querySelector(".incident").textContent !== %q`, first))
	assert.True(t, browser.Eval[bool](p, `document.activeElement === used`))
	assert.InDelta(t, browser.Eval[float64](p, "before"), browser.Eval[float64](p, "used.getBoundingClientRect().top"), 2)
}

// An empty list says when an incident is listed, and what else there is.
func TestNoIncidents(t *testing.T) {
	t.Parallel()
	p := open(t, "s="+finished+"&tab=incidents&range=1-2")
	p.Until(`document.querySelector(".empty-state")`)
	assert.Contains(t, p.Text(".empty-state"), "10 ms or more")
	p.ClickText(".empty-state button", "Show what the threads did")
	p.Until(`document.querySelector("[role=tab][aria-selected=true]").innerText === "Threads"`)
}
