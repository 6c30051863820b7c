// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package main_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/e2e/browser"
)

// faint lists texts and canvas labels whose contrast is below WCAG 2.2 (AA, 1.4.3).
const faint = `(() => {
	const channels = (text) => {
		const found = text.match(/[\d.]+/g).map(Number);
		return /^color/.test(text) ? [found[0] * 255, found[1] * 255, found[2] * 255, found[3] ?? 1] : [found[0], found[1], found[2], found[3] ?? 1];
	};
	const light = (color) => {
		const [r, g, b] = color.slice(0, 3).map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
	const over = (top, ground) => [0, 1, 2].map((i) => top[i] * top[3] + ground[i] * (1 - top[3])).concat(top[3] + ground[3] * (1 - top[3]));
	const found = [];
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (texts.nextNode()) {
		const element = texts.currentNode.parentElement;
		if (!texts.currentNode.data.trim() || element.closest("option, .loading, :disabled") || element.getBoundingClientRect().width < 2) continue;
		let ground = [0, 0, 0, 0], opacity = 1;
		for (let up = element; up; up = up.parentElement) {
			const style = getComputedStyle(up);
			opacity *= style.opacity;
			ground = over(ground, channels(style.backgroundColor));
		}
		const color = channels(getComputedStyle(element).color);
		color[3] *= opacity;
		const is = ratio(over(color, ground), ground);
		if (is < 4.5) found.push(texts.currentNode.data.trim() + " " + is.toFixed(2));
	}
	const pen = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
	const variable = (name) => {
		const value = getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
		if (!value) return null;
		pen.fillStyle = value;
		pen.fillRect(0, 0, 1, 1);
		return [...pen.getImageData(0, 0, 1, 1).data];
	};
	for (const state of ["unknown", "runnable", "blocked", "waiting", "reentering", "joining", "sleeping", "parked", "deadlocked", "suspended", "queued", "idle"]) {
		const is = ratio(variable("state-" + state), variable("on-" + state) ?? variable("on-state"));
		if (is < 4.5) found.push("lane " + state + " " + is.toFixed(2));
	}
	for (const hold of [0, 1, 2, 3, 4, 5, 6, 7, "several"]) if (ratio(variable("hold-" + hold), variable("on-hold")) < 4.5) found.push("hold " + hold);
	for (const flame of ["wait-0", "wait-1", "wait-2", "worse", "better", "same"]) if (ratio(variable("flame-" + flame), variable("flame-text")) < 4.5) found.push("frame " + flame);
	return found;
})()`

func TestTextHasContrast(t *testing.T) {
	t.Parallel()
	for _, hash := range []string{
		finished + "&at=8.4", finished + "&tab=locks&lock=1", finished + "&tab=monitors&threads=1-3", finished + "&tab=path", finished + "&tab=log",
		finished + "&tab=sessions", finished + "&tab=flame&find=settle&before=" + locks, deadlocked,
	} {
		p := open(t, "s="+hash)
		answered(p)
		p.Until(`document.querySelectorAll(".name, tbody tr, .line").length > 0 && !document.querySelector(".table.loading")`)
		assert.Empty(t, browser.Eval[[]string](p, faint), "%s, light", hash)
		p.Dark(true)
		p.Until(`document.documentElement.dataset.theme === "dark" && document.getAnimations().length === 0`)
		assert.Empty(t, browser.Eval[[]string](p, faint), "%s, dark", hash)
		p.Close()
	}
}

// The columns are aligned in a narrow window, too, and with names of any length.
func TestLogColumnsAreAligned(t *testing.T) {
	t.Parallel()
	p := openWindow(t, "s="+finished+"&tab=log", browser.Window{Width: 1024, Height: 700})
	p.Until(`document.querySelectorAll(".log .line").length === 500`)
	assert.Equal(t, 1, browser.Eval[int](p, `new Set([...document.querySelectorAll(".log .what")].map((e) => e.getBoundingClientRect().x)).size`))
}

// With millions of intervals the savings take seconds; the lock is named before they arrive.
func TestLockIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	p := open(t, "s="+deadlocked)
	answered(p)
	browser.Eval[any](p, `void (() => {
		const fetched = window.fetch;
		const released = new Promise((done) => { window.release = done; });
		window.fetch = async (url, init) => {
			if (String(url).includes("savings=true")) await released;
			return fetched(url, init);
		};
	})()`)
	p.Choose("select.session", requests)
	p.Until(`document.querySelector(".answer .lock-name")?.innerText === "Inventory" && document.querySelector(".answer").ariaBusy === "true"`)
	assert.NotContains(t, p.Text(".answer"), "not on the critical path")
	p.Click("#tab-monitors")
	p.Until(`document.querySelectorAll("[data-table=classes] tbody tr").length > 1`)
	browser.Eval[any](p, "void release()")
	answered(p)
	assert.Regexp(t, "earlier|less|would save more", p.Text(".answer"))
}

// A live session adds lines all the time; the lines being read stay in place.
func TestLogDoesNotScroll(t *testing.T) {
	t.Parallel()
	p := open(t, "s="+live+"&tab=log")
	p.Until(`document.querySelectorAll(".log .line").length >= 500`)
	browser.Eval[any](p, `void (document.querySelector(".log").scrollTop = 1e9)`)
	p.Until(`document.querySelectorAll(".log .line").length > 500`)
	const requests = `performance.getEntriesByType("resource").filter((e) => e.name.includes("/classes")).length`
	before := browser.Eval[int](p, requests)
	p.Until(requests + " > " + number(float64(before+2))) // the session advanced
	p.Painted()
	assert.Greater(t, len(p.Texts(".log .line")), 500)
}

// A selection in one session does not apply to another.
func TestSessionChangeResetsTheView(t *testing.T) {
	t.Parallel()
	p := openLanes(t, "s="+finished+"&only=1-2&of=8&path=bounded&name=http")
	p.Click("#tab-sessions")
	p.ClickText(".sessions tbody td", "deadlocked")
	p.Until(`location.hash.includes("s=` + deadlocked + `")`)
	hash := browser.Eval[string](p, "location.hash")
	for _, left := range []string{"only=", "of=", "name="} {
		assert.NotContains(t, hash, left)
	}
	assert.Contains(t, hash, "path=", "a preference")
	p.ClickText("button", "Show threads")
	settled(p)
	assert.Len(t, p.Texts(".name"), 4)
}

// A link restores each part of the page.
func TestLinkRestoresEachTab(t *testing.T) {
	t.Parallel()
	p := openLanes(t, "s="+finished+"&group=group")
	p.Click(".name.head")
	p.Until(`document.querySelector(".name.head").ariaExpanded === "false"`)
	p.Click("#tab-monitors")
	p.Choose("[aria-label=Waited] select", "joined")
	p.Click("#tab-path")
	p.ClickText(".subtabs button", "Call sites")
	p.Click("#tab-log")
	p.Click("[data-what=notify]")
	const all = `["fold=", "waits=joined", "by=sites", "what=notify"].every((part) => location.hash.includes(part))`
	p.Until(all)
	hash := strings.TrimPrefix(browser.Eval[string](p, "location.hash"), "#")
	other := open(t, hash)
	other.Until(`document.querySelectorAll(".log .line").length > 0 && document.querySelector("[data-what=notify]").ariaPressed === "true" && document.querySelector("[data-what=wait]").ariaPressed === "false"`)
	other.Click("#tab-path")
	other.Until(`document.querySelector(".subtabs [aria-selected=true]")?.innerText.startsWith("Call sites")`)
	other.Click("#tab-monitors")
	other.Until(`document.querySelector("[aria-label=Waited] select")?.value === "joined"`)
	other.Click("#tab-threads")
	other.Until(`document.querySelector(".name.head")?.ariaExpanded === "false"`)

	low := openWindow(t, "s="+finished+"&top=132", browser.Window{Width: 1024, Height: 700})
	settled(low)
	low.Until(`document.querySelector(".scroller").scrollTop === 132`)
	browser.Eval[any](low, `void (document.querySelector(".scroller").scrollTop = 88)`)
	low.Until(`location.hash.includes("top=88")`)
}

func TestLegendShowsEndedThreads(t *testing.T) {
	t.Parallel()
	p := openLanes(t, "s="+finished)
	assert.NotEmpty(t, p.Texts(".name.dead"))
	p.Until(`!document.querySelector("[data-state=dead]").classList.contains("absent")`)
	p.Until(`document.querySelector("[data-state=deadlocked]").classList.contains("absent")`)
}

// Names can be long and unbreakable; adjacent elements stay visible.
func TestLongNamesFit(t *testing.T) {
	t.Parallel()
	p := openWindow(t, early+"&at=8.4", browser.Window{Width: 1024, Height: 700})
	settled(p)
	p.Until(`document.querySelector(".detail h2") && document.querySelectorAll("[data-side=held] li").length > 0`)
	outside := browser.Eval[[]string](p, `(() => {
		const all = [".answer .lock-name", ".detail h2", ".detail header .link", ".detail .sentence", ".detail .facts .link", "[data-side=held] li"]
			.filter((one) => document.querySelector(one)); // the answer has no lock if joins cost the most
		for (const one of all) document.querySelector(one).textContent = "OneWordOfManyLetters".repeat(12);
		return ["main", ...all, ".answer .hint", "[aria-label^=Close]", "[aria-label^=Next]", ".toolbar .tools"].filter((one) => {
			const {left, right, width} = document.querySelector(one).getBoundingClientRect();
			return width === 0 || left < 0 || right > innerWidth;
		});
	})()`)
	// The name of the thread may be cut off here: the sentence below has it, too.
	assert.Subset(t, []string{".detail header .link"}, outside, "elements that do not fit")
}

// A small saving, or none, is not proof that the lock costs nothing: the thread may depend on it through sockets. Of a thread that does not end,
// it says nothing at all.
func TestSmallSavingsAreQualified(t *testing.T) {
	t.Parallel()
	p := open(t, "s="+locks)
	answered(p)
	const ended = finished + "&range=0-200000000" // where a lock costs the most
	for _, of := range []struct {
		hash        string
		drag, bound int
		want        string
	}{
		{locks, 0, 0, `for it\. It is \d+ % of all waiting for locks, permits and pools\.$`},
		{locks, 1000, 1000, `for it\. It is \d+ % of all waiting for locks, permits and pools\.$`},
		{ended, 0, 0, `It is not on the critical path of \S+\. Waits on sockets are not counted\.$`},
		{ended, 1000, 1500, `Without this, \S+ would finish only 1 µs earlier \(of 200 ms; waits on sockets are not counted\)\.$`},
		{ended, 1000, 1_000_000_000, `Without this, \S+ would finish 1 µs to 1 s earlier \(of 200 ms\)\.$`},
	} {
		browser.Eval[any](p, fmt.Sprintf(`void (() => {
			window.fetched ??= window.fetch;
			window.fetch = async (url, init) => {
				const response = await fetched(url, init);
				if (String(url).includes("%s/threads?")) return new Response((await response.text()).replaceAll('"dead":false', '"dead":true'));
				if (!String(url).includes("savings=true")) return response;
				return new Response((await response.text()).replaceAll(/"(drag|waited)":\d+/g, '"$1":%d').replaceAll(/"bound":\d+/g, '"bound":%d'));
			};
		})()`, finished, of.drag, of.bound))
		p.Choose("select.session", deadlocked)
		p.Until(`document.querySelector(".answer")?.innerText.includes("Account")`)
		browser.Eval[any](p, fmt.Sprintf(`void (location.hash = "#s=%s")`, of.hash))
		p.Until(fmt.Sprintf(`/%s/.test(document.querySelector(".answer p")?.innerText)`, of.want))
	}
}

// If the path is that of the cause itself, which waited for its turn, what it would save is not said.
func TestTheCauseSavesItselfNothing(t *testing.T) {
	t.Parallel()
	p := open(t, "s="+locks)
	answered(p)
	browser.Eval[any](p, `void (() => {
		window.fetched ??= window.fetch;
		window.fetch = async (url, init) => {
			const response = await fetched(url, init);
			return String(url).includes("/path?") ? new Response((await response.text()).replaceAll(/"id":\d+,"name":"matcher-1"/g, '"id":2,"name":"report"')) : response;
		};
	})()`)
	browser.Eval[any](p, fmt.Sprintf(`void (location.hash = "#s=%s&range=0-1600000000")`, locks))
	p.Until(`document.querySelector(".answer p")?.innerText.trim().endsWith("for it.") && document.querySelector(".answer").ariaBusy === "false"`)
}
