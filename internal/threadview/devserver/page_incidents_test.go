// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

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
	assert.Contains(t, p.Text(".incident summary"), incident.Text)
	assert.Contains(t, p.Text(".incident summary"), "timeline no longer stored")
	assert.Contains(t, p.Text(".incidents .banner"), "The timeline of this JVM is no longer stored")
	p.Click(".incident summary")
	p.Until(`document.querySelector(".incident[open] .frames")`)
	for _, part := range slices.Concat(incident.Holds, incident.Waits) {
		assert.Contains(t, p.Text(".incident[open]"), part.Text)
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

// An incident whose time is held leads to its timeline.
func TestIncidentLeadsToItsTimeline(t *testing.T) {
	t.Parallel()
	p := open(t, "s="+finished+"&tab=incidents")
	p.Until(`document.querySelector(".incident")`)
	assert.NotContains(t, p.Text("main"), "no longer stored")
	if dir := os.Getenv("WEFT_PICTURES"); dir != "" {
		p.Screenshot(filepath.Join(dir, "incidents-held.png"))
	}
	p.Click(".incident summary")
	p.ClickText(".incident[open] button", "Show on the timeline")
	p.Until(`location.hash.includes("range=")`)
	settled(p)
	assert.Equal(t, "Threads", p.Text("[role=tab][aria-selected=true]"))
}
