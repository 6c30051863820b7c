// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package main_test

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/browser"
	"github.com/weft-otel/weft/internal/viewapi"
)

const requestRows = `[...document.querySelectorAll("[aria-label=Requests] tbody tr:not([aria-hidden])")]`

// The slowest requests are listed with what they waited for and who held it; a route limits the list, and a click leads to the lanes of all
// threads of the request and of the one that held it up.
func TestSlowestRequests(t *testing.T) {
	t.Parallel()
	want := get[viewapi.Requests](t, simulated(t), "sessions/"+requests+"/requests?limit=100")
	p := openWindow(t, "s="+requests+"&tab=requests", browser.Window{Width: 1280, Height: 800})
	p.Until(requestRows + `.length > 5`)
	assert.LessOrEqual(t, browser.Eval[int](p, `document.documentElement.scrollWidth`), 1280)
	routes := p.Texts(`table[aria-label=Routes] tbody tr`)
	require.Len(t, routes, len(want.Names))
	for i, n := range want.Names {
		assert.Contains(t, routes[i], n.Name)
		assert.Contains(t, routes[i], n.Cause.Title)
	}
	first, slowest := browser.Eval[string](p, requestRows+`[0].innerText`), want.Requests[0]
	require.NotNil(t, slowest.Worst.Holder)
	for _, part := range []string{slowest.Name, slowest.Worst.Object, slowest.Worst.Holder.Thread.Name} {
		assert.Contains(t, first, part)
	}
	assert.Equal(t, slowest.URL, browser.Eval[string](p, requestRows+`[0].querySelector("a").href`))

	next := get[viewapi.Requests](t, simulated(t), "sessions/"+requests+"/requests?limit=100&offset=100").Requests[0]
	p.Click(`[aria-label="Next requests"]`)
	p.Until(requestRows + fmt.Sprintf(`[0].querySelector("a").href === %q`, next.URL))
	assert.Contains(t, p.Text(".requests-view"), fmt.Sprintf("101–200 of %d requests", want.Total))
	last := want.Names[len(want.Names)-1]
	p.ClickText("table[aria-label=Routes] td", last.Name)
	p.Until(requestRows + fmt.Sprintf(`.every((row) => row.innerText.includes(%q))`, last.Name))
	p.Until(`document.querySelector(".requests-view").innerText.includes("1–100 of ")`) // another list begins with its first page
	p.Until(fmt.Sprintf(`location.hash.includes(%q)`, url.Values{"route": {last.Name}}.Encode()))
	p = open(t, "s="+requests+"&tab=requests&"+url.Values{"route": {last.Name}}.Encode())
	p.Until(requestRows + `.length > 5 && ` + requestRows + fmt.Sprintf(`.every((row) => row.innerText.includes(%q))`, last.Name))
	assert.Contains(t, p.Text(`[aria-label=Routes] tr[aria-selected=true]`), last.Name)

	p = open(t, "s="+requests+"&tab=requests")
	p.Until(requestRows + `.length > 5`)
	focus(p, "table[aria-label=Requests]")
	p.Press("\r")
	p.Until(`document.querySelector("#tab-threads").ariaSelected === "true" && location.hash.includes("cast=")`)
	var cast []string
	for _, thread := range slowest.Threads {
		cast = append(cast, strconv.FormatUint(thread.ID, 10))
	}
	cast = append(cast, strconv.FormatUint(slowest.Worst.Holder.Thread.ID, 10))
	hash := browser.Eval[string](p, `location.hash`)
	for _, part := range []string{"cast=" + strings.Join(cast, "."), fmt.Sprintf("range=%d-%d", slowest.From, slowest.To), "follow=0"} {
		assert.Contains(t, hash, part)
	}
}

// Without requests, the page says how to get them.
func TestNoRequests(t *testing.T) {
	t.Parallel()
	p := open(t, "s="+finished+"&tab=requests")
	p.Until(`document.querySelector(".requests-view .empty-state pre")`)
	assert.Contains(t, p.Text(".requests-view"), "No requests are known")
	assert.Contains(t, p.Text(".requests-view pre"), "-Dotel.javaagent.extensions=")
	assert.Len(t, p.Texts(".requests-view .sample button"), 2)
}

// Without an address of traces, their IDs can be copied.
func TestTraceIDsOfRequests(t *testing.T) {
	t.Parallel()
	s := serve(t, "-trace-url", "", "-live=false")
	p := openAt(t, chromium(t), s, "s="+requests+"&tab=requests", browser.Window{})
	p.Until(requestRows + `.length > 5`)
	trace := get[viewapi.Requests](t, s, "sessions/"+requests+"/requests?limit=1").Requests[0].TraceID
	assert.Contains(t, browser.Eval[string](p, requestRows+`[0].querySelector("button").title`), "Copy the ID of trace "+trace)
}
