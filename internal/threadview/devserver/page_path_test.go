// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package main_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/browser"
	"github.com/weft-otel/weft/internal/viewapi"
)

// The path is said in a sentence; its parts have the colors of lanes, say for whom the thread waited, and no identifiers.
func TestPathIsSaid(t *testing.T) {
	t.Parallel()
	info := get[viewapi.Info](t, simulated(t), "info")
	for _, of := range []struct {
		session, parameters, hash string
	}{{finished, "", ""}, {requests, "?thread=1", "&of=1"}, {locks, "?thread=3", "&of=3"}, {deadlocked, "?thread=4", "&of=4"}} {
		for _, dark := range []bool{false, true} {
			path := get[viewapi.Path](t, simulated(t), "sessions/"+of.session+"/path"+of.parameters)
			p := openWindow(t, "s="+of.session+"&tab=path"+of.hash, browser.Window{Width: 1280, Height: 800, Dark: dark})
			p.Until(`document.querySelectorAll(".path-view tbody tr .swatch").length > 0`)
			assert.Equal(t, path.Text, p.Text(".summary .spoken"))
			assert.NotContains(t, p.Text(".path-view"), "_")
			texts := p.Texts(".path-view tbody tr")
			require.NotEmpty(t, texts)
			assert.Contains(t, texts[0], path.Parts[0].Name)
			for i := range path.Parts {
				if part := &path.Parts[i]; part.Share > .01 {
					state := info.States[part.Shown]
					assert.True(t, browser.Eval[bool](p, fmt.Sprintf(`(() => {
						const part = [...document.querySelectorAll(".part")].find((e) => e.title.startsWith(%q + ": "));
						const probe = document.body.appendChild(document.createElement("i"));
						probe.style.background = "var(--state-%s)";
						const same = getComputedStyle(part).backgroundColor === getComputedStyle(probe).backgroundColor;
						probe.remove();
						return same && part.dataset.state === %q;
					})()`, part.Name, state, state)), "%s in the color of %s", part.Name, state)
				}
			}
			assert.LessOrEqual(t, browser.Eval[int](p, `document.documentElement.scrollWidth`), 1280)
		}
	}
}

// What a wait would save is shown for a thread that ends and within a request, with how far it can be trusted; otherwise the page says why not.
func TestSavingsOfPath(t *testing.T) {
	t.Parallel()
	slowest := get[viewapi.Requests](t, simulated(t), "sessions/"+requests+"/requests?limit=1").Requests[0]
	p := open(t, "s="+requests+"&tab=path&by=classes&of=1")
	p.Until(`document.querySelector(".stacked + .hint")?.innerText.includes("waits for tasks in this range")`)
	assert.NotContains(t, p.Text(".path-view thead"), "Saves")
	p = open(t, fmt.Sprintf("s=%s&tab=path&by=classes&of=%d&range=%d-%d", requests, slowest.Threads[0].ID, slowest.From, slowest.To))
	p.Until(`document.querySelector(".stacked + .hint")?.innerText.includes("5 % and a millisecond")`)
	assert.Contains(t, p.Text(".path-view thead"), "Saves")
}
