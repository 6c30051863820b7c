// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package main_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/browser"
	"github.com/weft-otel/weft/internal/viewapi"
)

// cut lists the cells whose text is cut off without an ellipsis and a tooltip.
const cut = `[...document.querySelectorAll("td, th")].filter((cell) => {
	const text = cell.querySelector(".title") ?? cell;
	if (text.scrollWidth <= text.clientWidth + 1 || cell.classList.contains("space")) return false;
	const titled = cell.title || cell.querySelector("[title]");
	return !titled || getComputedStyle(text).textOverflow !== "ellipsis";
}).map((cell) => cell.innerText)`

// On a small screen tables show the columns that fit, without a scroll bar.
func TestTablesFitASmallScreen(t *testing.T) {
	t.Parallel()
	for _, hash := range []string{
		finished + "&tab=locks", finished + "&tab=locks&lock=1", locks + "&tab=locks", finished + "&tab=monitors", finished + "&tab=path",
		finished + "&tab=path&by=locks", finished + "&tab=path&by=sites", finished + "&tab=log", finished + "&tab=sessions",
	} {
		p := openWindow(t, "s="+hash, browser.Window{Width: 1280, Height: 800})
		p.Until(`!document.querySelector(".table.loading") && document.querySelectorAll("tbody tr, .log .line").length > 1`)
		assert.Empty(t, browser.Eval[[]string](p, `[...document.querySelectorAll(".table, main, body")].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.className)`), hash)
		assert.Empty(t, browser.Eval[[]string](p, cut), hash)
		p.Close()
	}
}

func titles(p *browser.Page) []string { return p.Texts("[data-table=threads] th .title") }

// The menu of columns works with the keyboard; what is chosen stays after a reload, and so do widths.
func TestColumnsAreChosenAndRemembered(t *testing.T) {
	t.Parallel()
	p := openWindow(t, "s="+finished+"&tab=monitors", browser.Window{Width: 1280, Height: 800})
	p.Until(`document.querySelectorAll("[data-table=threads] tbody tr").length > 5`)
	require.NotContains(t, titles(p), "ID")
	focus(p, "[data-table=threads] .columns button")
	assert.Regexp(t, `^Columns of Threads \(\d more\)$`, browser.Eval[string](p, `document.activeElement.ariaLabel`))
	p.Press("\r")
	p.Until(`document.querySelector(".columns fieldset input")`)
	p.Press("\t")
	assert.Equal(t, "ID", browser.Eval[string](p, `document.activeElement.closest("label").innerText`))
	p.Press(" ")
	p.Until(`[...document.querySelectorAll("[data-table=threads] th .title")].some((e) => e.innerText === "ID")`)
	p.Press("\x1b")
	p.Until(`!document.querySelector(".columns .popup") && document.activeElement.matches("[data-table=threads] .columns button")`)

	// Shift and an arrow key on the head, and a drag of its edge.
	width := func() float64 {
		return browser.Eval[float64](p, `document.querySelector('[data-table=threads] [data-key="name"]').closest("th").offsetWidth`)
	}
	focus(p, `[data-table=threads] [data-key="name"]`)
	before := width()
	p.Press(kb.ArrowLeft, chromedp.ModifierShift)
	p.Until(fmt.Sprintf(`document.querySelector('[data-table=threads] [data-key="name"]').closest("th").offsetWidth === %g`, before-16))
	edge := browser.Eval[browser.Point](p, `(() => { const r = document.querySelector('[data-table=threads] [data-key="name"]').closest("th").querySelector(".grip").getBoundingClientRect(); return {x: r.x + 3, y: r.y + 8}; })()`)
	p.Drag(edge, browser.Point{X: edge.X + 40, Y: edge.Y})
	p.Until(fmt.Sprintf(`Math.abs(document.querySelector('[data-table=threads] [data-key="name"]').closest("th").offsetWidth - %g) < 2`, before+24))
	dragged := width()

	reload := func() {
		p.Do(chromedp.Reload())
		p.Until(`document.querySelectorAll("[data-table=threads] tbody tr").length > 5`)
	}
	reload()
	assert.Contains(t, titles(p), "ID")
	assert.InDelta(t, dragged, width(), 1)
	p.Click("[data-table=threads] .columns button")
	p.ClickText(".columns .popup button", "Reset columns")
	p.Until(`localStorage.getItem("weft.columns.threads") === null`)
	assert.NotContains(t, titles(p), "ID")
	browser.Eval[any](p, `void localStorage.setItem("weft.columns.threads", '{"widths":{"name":"x"},"on":7')`)
	reload()
	assert.NotContains(t, titles(p), "ID")
}

// The table of holders names who held the lock, what it did and who waited; a row leads to the longest wait.
func TestHoldersLeadToTheLongestWait(t *testing.T) {
	t.Parallel()
	p := openWindow(t, "s="+locks+"&tab=locks", browser.Window{Width: 1280, Height: 800})
	p.Until(`document.querySelectorAll("[data-table=holders] tbody tr").length > 4`)
	table := get[viewapi.Holders](t, simulated(t), "sessions/"+locks+"/holders")
	row := strings.Join(strings.Fields(p.Texts("[data-table=holders] tbody tr")[0]), " ")
	assert.Regexp(t, `^OrderBook.lock report Report.write asleep in Report.write 98 % 15 3.45 s matcher-\* \(3\) 240 ms$`, row)
	assert.Contains(t, browser.Eval[string](p, `document.querySelector("[data-table=holders] .sum").innerHTML`), nanoseconds(table.Sum.Time))
	p.Choose(`[aria-label="Holders by"]`, "pool")
	p.Until(`[...document.querySelectorAll("[data-table=holders] td")].some((e) => e.innerText === "client-* (6)")`)

	p.Click(".name.lock")
	p.Until(`document.querySelector(".detail") && document.querySelectorAll(".detail [aria-label=Holders] tbody tr").length === 4`)
	assert.Contains(t, browser.Eval[string](p, `document.querySelector(".detail .sum").innerHTML`), nanoseconds(
		get[viewapi.Holders](t, simulated(t), "sessions/"+locks+"/holders?lock=OrderBook.lock").Sum.Time))
	p.Click(".detail tbody tr")
	p.Until(`document.querySelector("#tab-threads").ariaSelected === "true" && document.querySelector(".detail .sentence")`)
	wait := table.Holders[0].Wait
	p.Until(fmt.Sprintf(`location.hash.includes("at=%d.%d")`, wait.Thread.ID, wait.Seq))
	assert.Contains(t, p.Text(".detail .sentence"), "report held it")
}

// A selected kind of waits limits the methods.
func TestKindsLimitTheMethods(t *testing.T) {
	t.Parallel()
	p := openWindow(t, "s="+locks+"&tab=monitors", browser.Window{Width: 1280, Height: 800})
	p.Until(`document.querySelectorAll("[data-table=kinds] tbody tr").length === 4 && document.querySelectorAll("[aria-label=Blocked] tbody tr").length === 2`)
	p.ClickText("[data-table=kinds] td", "pooled object")
	p.Until(`document.querySelectorAll("[aria-label=Blocked] tbody tr").length === 1 && location.hash.includes("kind=blocked.pool")`)
	assert.Contains(t, p.Text("[aria-label=Blocked] tbody tr"), "HikariPool")
	assert.Contains(t, p.Text("[aria-label=Blocked] header"), "only: pooled object")
	p.ClickText("[data-table=kinds] td", "sleep")
	p.Until(`document.querySelectorAll("[aria-label=Blocked] tbody tr").length === 2 && document.querySelector("[aria-label=Waited] select").value === "sleeping"`)
	p.Until(`document.querySelectorAll("[aria-label=Waited] tbody tr").length === 2`)
}
