// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package main_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/e2e/browser"
)

func focus(p *browser.Page, selector string) {
	p.Until(fmt.Sprintf("document.querySelector(%q)", selector))
	browser.Eval[any](p, fmt.Sprintf("void document.querySelector(%q).focus()", selector))
}

// Buttons in heads and checkboxes in rows work with the keyboard although the table handles keys itself.
func TestKeysInTables(t *testing.T) {
	t.Parallel()
	p := openLanes(t, "s="+finished)
	p.ClickText(".toolbar button", "Threads: all")
	p.Until(`document.querySelectorAll("dialog tbody tr").length > 2`)
	all := len(p.Texts("dialog tbody input"))
	focus(p, "dialog tbody tr:nth-child(2) input")
	p.Press(" ")
	p.Until(`!document.querySelector("dialog tbody tr:nth-child(2) input").checked`)
	focus(p, "dialog table")
	p.Press(kb.ArrowDown)
	p.Press(kb.ArrowDown)
	p.Until(`document.getElementById(document.querySelector("dialog table").getAttribute("aria-activedescendant")) === document.querySelector("dialog tbody tr:nth-child(3)")`)
	p.Press(" ")
	p.Until(`!document.querySelector("dialog tbody tr:nth-child(3) input").checked`)
	p.Click("dialog tbody tr:nth-child(4) td:nth-child(2)") // a click on the row does the same
	p.Until(`!document.querySelector("dialog tbody tr:nth-child(4) input").checked`)
	assert.Equal(t, all-3, browser.Eval[int](p, `document.querySelectorAll("dialog tbody input:checked").length`))
	p.Press("\x1b")
	p.Until(`!document.querySelector("dialog")`)

	p.Click("#tab-monitors")
	focus(p, "[data-table=threads] [data-key=name]")
	p.Press(" ")
	p.Until(`document.querySelector("[data-table=threads] [data-key=name]").closest("th").ariaSort === "ascending"`)
	assert.Empty(t, p.Texts("[data-table=threads] tr.chosen"))
	p.Click("#tab-path")
	p.Until(`document.querySelectorAll(".path-view tbody tr").length > 2`)
	focus(p, ".path-view [data-key=name]")
	p.Press("\r")
	p.Until(`document.querySelector(".path-view [data-key=name]")?.closest("th").ariaSort === "ascending"`)
	assert.Equal(t, "true", browser.Eval[string](p, `document.querySelector("#tab-path").ariaSelected`), "Enter on a head does not open a row")
}

// Keys work wherever the focus is.
func TestKeysWorkWithoutFocus(t *testing.T) {
	t.Parallel()
	p := openLanes(t, early+"&at=8.4")
	p.Until(`document.querySelector(".detail h2")`)
	length := browser.Eval[float64](p, "weftPlane.view.to - weftPlane.view.from")
	p.Press("w") // no element has the focus
	p.Until(fmt.Sprintf("weftPlane.view.to - weftPlane.view.from < %f", length))
	first := p.Text(".detail header")
	focus(p, `.detail [aria-label^="Next interval"]`)
	p.Press(kb.ArrowRight)
	p.Until(fmt.Sprintf(`document.querySelector(".detail header").innerText !== %q`, first))
	p.Press("\x1b")
	p.Until(`!document.querySelector(".detail")`)

	p.Press("0") // all locks, not only those in sight
	p.Click("#tab-locks")
	p.Until(`document.querySelectorAll(".name.lock").length > 2`)
	focus(p, ".lanes")
	p.Press(kb.ArrowDown)
	p.Until(`document.querySelector(".name.lock").classList.contains("chosen")`)
	p.Press(kb.ArrowDown)
	p.Until(`document.querySelectorAll(".name.lock")[1].classList.contains("chosen") && document.querySelector(".detail")`)
	p.Press("\x1b")
	p.Until(`!document.querySelector(".detail")`)
}

// The focus returns to the control that opened a dialog or a menu.
func TestFocusReturns(t *testing.T) {
	t.Parallel()
	p := openLanes(t, "s="+finished)
	focused := func(text string) {
		p.Until(fmt.Sprintf("document.activeElement.innerText.trim().startsWith(%q)", text))
	}
	p.ClickText(".toolbar button", "Threads: all")
	p.Until(`document.activeElement.matches("dialog input[type=search]")`)
	p.Press("pool-*\r")
	p.Until(`!document.querySelector("dialog")`)
	focused("Threads: some")
	p.Press("\r")
	p.Until(`document.querySelector("dialog")`)
	p.ClickText("dialog button", "Cancel")
	p.Until(`!document.querySelector("dialog")`)
	focused("Threads: some")

	p.ClickText(".toolbar button", "No groups")
	p.Press(kb.Tab)
	p.Until(`document.activeElement.matches(".popup input")`)
	p.Press(kb.ArrowDown)
	p.Until(`!document.querySelector(".popup")`)
	focused("By thread group")
	p.Press("\r")
	p.Until(`document.querySelector(".popup")`)
	p.Press(kb.Tab)
	p.Press(kb.Tab)
	p.Until(`!document.querySelector(".popup")`)
}

// Enter may be pressed before the hits arrive.
func TestSearchWaitsForHits(t *testing.T) {
	t.Parallel()
	p := openLanes(t, "s="+finished)
	p.Click(".search input")
	p.Press("Matcher.settle\r")
	p.Until(`document.querySelector(".detail h2")`)
	p.Click(".search input")
	p.Press("a", chromedp.ModifierCtrl)
	p.Press("pool-1-thread-10\r")
	p.Until(`document.querySelector(".name.chosen")?.innerText.startsWith("pool-1-thread-10")`)
}

// A tab shows the part of time that the tab before it showed, even if that has just changed.
func TestTabsShareTheView(t *testing.T) {
	t.Parallel()
	p := openLanes(t, early)
	browser.Eval[any](p, `weftPlane.zoomAt(weftPlane.width / 2, 0.5), document.querySelector("#tab-locks").click()`)
	p.Until(`location.hash.includes("tab=locks") && location.hash.includes("view=150000000-450000000")`)
}
