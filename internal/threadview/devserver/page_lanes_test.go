// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package main_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/browser"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

// early is a busy part of the finished session.
const early = "s=" + finished + "&view=0-600000000"

func TestAnswerNamesTheCostliestLock(t *testing.T) {
	t.Parallel()
	p := openLanes(t, "s="+finished+"&range=0-200000000") // of all of it, joins cost more
	answered(p)
	most := get[viewapi.Answer](t, simulated(t), "sessions/"+finished+"/answer?from=0&to=200000000").Most
	text := p.Text(".answer p")
	for _, want := range []string{most.Name, wording.Duration(time.Duration(most.Time))} {
		assert.Contains(t, text, want)
	}
	p.Click(".answer .lock-name")
	p.Until(`document.querySelector("[data-table=classes] tr.chosen")`)
	assert.True(t, strings.HasPrefix(p.Text("[data-table=classes] tr.chosen"), short(most.Class)))
}

func short(class string) string { return wording.SimpleClass(class) }

func TestLegendTogglesStates(t *testing.T) {
	t.Parallel()
	p := openLanes(t, early+"&arrows=none")
	for _, state := range []string{"blocked", "runnable", "parked"} {
		untilPixels(t, p, "state-"+state, atLeast(200))
		before := pixels(p, "state-"+state)
		p.Click("[data-state=" + state + "]")
		p.Until(`document.querySelector("[data-state=` + state + `]").ariaPressed === "false"`)
		untilPixels(t, p, "state-"+state, none)
		p.Click("[data-state=" + state + "]")
		p.Until(`document.querySelector("[data-state=` + state + `]").ariaPressed === "true"`)
		untilPixels(t, p, "state-"+state, atLeast(before*9/10))
	}
	assert.ElementsMatch(t, []string{
		"blocked", "deadlocked", "reentering", "waiting", "parked", "I/O", "idle", "joining", "sleeping", "queued", "suspended", "runnable", "unknown", "dead",
	}, p.Texts(".legend.states button"), "each state has an entry")
}

func TestLegendTogglesArrows(t *testing.T) {
	t.Parallel()
	info := get[viewapi.Info](t, simulated(t), "info")
	p := openLanes(t, "s="+finished+"&arrows=none")
	assert.Zero(t, browser.Eval[int](p, "weftPlane.drawn()"))
	all := get[viewapi.Arrows](t, simulated(t), "sessions/"+finished+"/interactions?limit=600")
	seen := 0
	for i, kind := range info.Interactions {
		if kind == "none" {
			continue
		}
		button := "[data-kind=" + kind + "]"
		assert.Equal(t, kindColor(p, kind), browser.Eval[string](p, `getComputedStyle(document.querySelector("`+button+` svg")).color`), kind)
		p.Click(button)
		p.Until(`document.querySelector("` + button + `").ariaPressed === "true"`)
		if all.Kinds[i].Total > 0 {
			seen++
			p.Until("weftPlane.drawn() > 0")
			assert.Contains(t, p.Text(button+" .count"), strconv.Itoa(all.Kinds[i].Total), kind)
		}
		p.Click(button)
		p.Until(`document.querySelector("` + button + `").ariaPressed === "false"`)
		p.Until("weftPlane.drawn() === 0")
	}
	assert.GreaterOrEqual(t, seen, 6, "kinds that occur in the session")
}

// kindColor returns the color in which the lanes draw the arrows of a kind, as computed styles name it.
func kindColor(p *browser.Page, kind string) string {
	return browser.Eval[string](p, fmt.Sprintf(`((e) => {
		e.style.color = weftPlane.colors.kind(%q);
		document.body.append(e);
		const {color} = getComputedStyle(e);
		e.remove();
		return color;
	})(document.createElement("i"))`, kind))
}

func TestPathIsDrawn(t *testing.T) {
	t.Parallel()
	p := openLanes(t, early+"&arrows=none")
	assert.Zero(t, pixels(p, "path"))
	p.Click(".button.path")
	p.Until("weftPlane.path !== null")
	bounded := browser.Eval[string](p, "JSON.stringify(weftPlane.path.segments.slice(0, 50))")
	untilPixels(t, p, "path", atLeast(100))

	p.Click(".split .menu button")
	p.ClickText(".path-menu label", "Unbounded")
	p.Until("weftPlane.path?.unbounded")
	assert.NotEqual(t, bounded, browser.Eval[string](p, "JSON.stringify(weftPlane.path.segments.slice(0, 50))"))
	p.Choose(".path-menu select", "8")
	p.Until(`weftPlane.path?.thread.id === 8`)
	assert.Equal(t, "asked", browser.Eval[string](p, "weftPlane.path.chosen"))

	p.Press("\x1b")
	p.Click(".button.path")
	p.Until("weftPlane.path === null")
	untilPixels(t, p, "path", none)
}

func TestThreadsAreGrouped(t *testing.T) {
	t.Parallel()
	p := openWindow(t, "s="+finished, browser.Window{Width: 1280, Height: 1600}) // all heads are visible
	settled(p)
	assert.Empty(t, p.Texts(".name.head"))
	threads := get[viewapi.Threads](t, simulated(t), "sessions/"+finished+"/threads?limit=500")
	p.ClickText(".toolbar button", "No groups")
	p.ClickText(".popup label", "By thread group")
	p.Until(`document.querySelectorAll(".name.head").length > 0`)
	heads := strings.Join(p.Texts(".name.head"), "\n")
	for _, group := range threads.Groups {
		assert.Contains(t, heads, group)
	}
	before := len(p.Texts(".name:not(.head)"))
	p.Click(".name.head")
	p.Until(fmt.Sprintf(`document.querySelectorAll(".name:not(.head)").length !== %d`, before))
	assert.Equal(t, "false", browser.Eval[string](p, `document.querySelector(".name.head").ariaExpanded`))

	p.ClickText(".toolbar button", "By thread group")
	p.ClickText(".popup label", "By thread pool")
	p.Until(fmt.Sprintf(`[...document.querySelectorAll(".name.head")].some((e) => e.innerText.startsWith(%q))`, threads.Pools[0]))
	p.Press("g")
	p.Until(`document.querySelectorAll(".name.head").length === 0`)
}

func TestDialogFilters(t *testing.T) {
	t.Parallel()
	p := openLanes(t, "s="+finished)
	all := len(p.Texts(".name"))
	p.ClickText(".toolbar button", "Threads: all")
	p.Type("dialog input[type=search]", "pool-*")
	p.Until(`((names) => names.length > 0 && names.every((e) => e.innerText.startsWith("pool-")))([...document.querySelectorAll("dialog tbody tr td:nth-child(2)")])`)
	rows := p.Texts("dialog tbody tr td:nth-child(2)")
	sorts(t, p, "dialog")
	p.ClickText("dialog button", "Show "+strconv.Itoa(len(rows)))
	p.Until(fmt.Sprintf(`document.querySelectorAll(".name").length === %d`, len(rows)))
	assert.Less(t, len(rows), all)
	assert.Contains(t, p.Text(".corner"), fmt.Sprintf("%d of ", len(rows)))

	settled(p)
	p.ClickText(".toolbar button", "Threads: some")
	p.ClickText("dialog button", "Reset")
	p.ClickText("dialog button", "Select none")
	p.Click("dialog tbody tr:nth-child(3) input")
	p.Click("dialog tbody tr:nth-child(5) input")
	p.ClickText("dialog button", "Show 2 threads")
	p.Until(`document.querySelectorAll(".name").length === 2`)
}

// A canvas that gets another size is black until it is painted, which the browser must not show.
func TestResizedCanvasIsPaintedAtOnce(t *testing.T) {
	t.Parallel()
	p := openWindow(t, "s="+finished, browser.Window{Width: 1280, Height: 1100}) // there are no lanes at the bottom
	settled(p)
	colors := browser.Eval[[]string](p, `new Promise((done) => {
		const canvas = document.querySelector("canvas.plane"), colors = [];
		const pixel = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
		new ResizeObserver(() => { // called after that of the page, before the browser shows the frame
			pixel.clearRect(0, 0, 1, 1);
			pixel.drawImage(canvas, canvas.width / 2, canvas.height - 2, 1, 1, 0, 0, 1, 1);
			colors.push(canvas.width + " pixels wide: " + pixel.getImageData(0, 0, 1, 1).data.join());
			if (colors.length === 2) done(colors);
			else canvas.parentElement.style.width = "500px";
		}).observe(canvas);
	})`)
	require.NotEqual(t, colors[0], colors[1], "resized")
	for _, color := range colors {
		assert.Contains(t, color, ": 255,255,255,255", "the background of the lanes")
	}
}

func TestViewZoomsAndPans(t *testing.T) {
	t.Parallel()
	p := openLanes(t, "s="+finished)
	length := func() float64 { return browser.Eval[float64](p, "weftPlane.view.to - weftPlane.view.from") }
	start := func() float64 { return browser.Eval[float64](p, "weftPlane.view.from") }
	lanes := p.Center("canvas.plane")
	ruler := browser.Point{X: lanes.X, Y: browser.Eval[float64](p, `document.querySelector("canvas.plane").getBoundingClientRect().y + 10`)}

	whole := length()
	under := browser.Eval[float64](p, fmt.Sprintf("weftPlane.time(%f - document.querySelector('canvas.plane').getBoundingClientRect().x)", ruler.X))
	p.Wheel(ruler, 0, -200)
	p.Until(fmt.Sprintf("weftPlane.view.to - weftPlane.view.from < %f", whole*0.8))
	after := browser.Eval[float64](p, fmt.Sprintf("weftPlane.time(%f - document.querySelector('canvas.plane').getBoundingClientRect().x)", ruler.X))
	assert.InDelta(t, under, after, whole/1000, "the time under the pointer stays")
	p.Wheel(lanes, 0, -400, chromedp.ModifierCtrl)
	p.Until(fmt.Sprintf("weftPlane.view.to - weftPlane.view.from < %f", whole*0.4))

	zoomed, from := length(), start()
	p.Drag(lanes, browser.Point{X: lanes.X - 200, Y: lanes.Y})
	assert.Greater(t, start(), from)
	assert.InDelta(t, zoomed, length(), 2)
	from = start()
	p.Wheel(lanes, -100, 0)
	p.Until(fmt.Sprintf("weftPlane.view.from < %f", from))

	minimap := p.Center(".minimap canvas")
	from = start()
	p.Drag(minimap, browser.Point{X: minimap.X + 150, Y: minimap.Y})
	p.Until(fmt.Sprintf("weftPlane.view.from > %f", from))
	p.Click(`[aria-label^="Show the whole session"]`)
	p.Until(fmt.Sprintf("weftPlane.view.to - weftPlane.view.from === %f", whole))
	p.Click(`[aria-label^="Zoom in"]`)
	p.Until(fmt.Sprintf("weftPlane.view.to - weftPlane.view.from < %f", whole))
	settled(p)
}

// A delayed update of the address does not restore an earlier view, however busy the browser is.
func TestLaterViewWins(t *testing.T) {
	t.Parallel()
	p := openLanes(t, "s="+finished)
	got := browser.Eval[[]float64](p, `(async () => {
		const rest = (ms) => new Promise((done) => setTimeout(done, ms));
		const length = weftPlane.limits.to;
		weftPlane.setView({from: 0, to: length / 2});
		await rest(100); // the page is about to write the view into the address
		for (const begun = performance.now(); performance.now() - begun < 400; );
		weftPlane.setView({from: 0, to: length / 8});
		const written = [2, 8].map((part) => "view=0-" + Math.ceil(length / part));
		while (!written.some((text) => location.hash.includes(text))) await rest(20);
		return [weftPlane.view.to, length / 8];
	})()`)
	assert.InDelta(t, got[1], got[0], 2)
}

func TestKeysMoveTheSelection(t *testing.T) {
	t.Parallel()
	p := openLanes(t, early+"&at=8.4")
	p.Until(`document.querySelector(".detail h2")`)
	browser.Eval[any](p, `void document.querySelector(".lanes").focus()`)
	length := browser.Eval[float64](p, "weftPlane.view.to - weftPlane.view.from")
	p.Press("w")
	p.Until(fmt.Sprintf("weftPlane.view.to - weftPlane.view.from < %f", length))
	from := browser.Eval[float64](p, "weftPlane.view.from")
	p.Press("d")
	p.Until(fmt.Sprintf("weftPlane.view.from > %f", from))
	first := p.Text(".detail header")
	p.Press(kb.ArrowRight)
	p.Until(fmt.Sprintf(`document.querySelector(".detail header").innerText !== %q`, first))
	p.Press(kb.ArrowLeft)
	p.Until(fmt.Sprintf(`document.querySelector(".detail header").innerText === %q`, first))
	p.Press("[") // selects the interval that unblocked it
	p.Until(fmt.Sprintf(`document.querySelector(".detail header").innerText !== %q`, first))
	p.Press("r")
	p.Until(`document.querySelector(".range-chip")`)
	p.Press("?")
	p.Until(`document.querySelector("dialog[open]")`)
	p.Press("\x1b")
	p.Until(`!document.querySelector("dialog")`)
}

// The arrow keys reach every thread, also those that started after the selected interval.
func TestArrowKeysReachEveryThread(t *testing.T) {
	t.Parallel()
	p := openLanes(t, "s="+finished+"&order=name&at=1.1")
	p.Until(`document.querySelector(".detail h2")`)
	browser.Eval[any](p, `void document.querySelector(".lanes").focus()`)
	seen := ",1,"
	for range 4 {
		p.Press(kb.ArrowUp)
		p.Until(fmt.Sprintf(`!%q.includes("," + location.hash.match(/at=(\d+)/)[1] + ",")`, seen))
		seen += browser.Eval[string](p, `location.hash.match(/at=(\d+)/)[1]`) + ","
	}
}

func TestTablesFollowTheRange(t *testing.T) {
	t.Parallel()
	p := openLanes(t, early)
	box := browser.Eval[browser.Point](p, `(() => { const r = document.querySelector("canvas.plane").getBoundingClientRect(); return {x: r.x, y: r.y}; })()`)
	p.Drag(browser.Point{X: box.X + 200, Y: box.Y + 12}, browser.Point{X: box.X + 500, Y: box.Y + 12})
	p.Until(`document.querySelector(".range-chip")`)
	p.ClickText(".tabs button", "Monitor statistics")
	p.Until(`/range=\d+-\d+/.test(location.hash)`)
	fragment, err := url.ParseQuery(browser.Eval[string](p, "location.hash.slice(1)"))
	require.NoError(t, err)
	from, to, _ := strings.Cut(fragment.Get("range"), "-")
	classes := get[viewapi.Classes](t, simulated(t), fmt.Sprintf("sessions/%s/classes?from=%s&to=%s", finished, from, to))
	whole := get[viewapi.Classes](t, simulated(t), fmt.Sprintf("sessions/%s/classes", finished))
	require.Less(t, classes.Sum.Blocked.Time, whole.Sum.Blocked.Time)
	p.Until(fmt.Sprintf(`document.querySelector("[data-table=classes] .sum")?.innerHTML.includes(%q)`, nanoseconds(classes.Sum.Blocked.Time)))
	p.Until(fmt.Sprintf(`document.querySelector("[data-table=threads] .sum")?.innerHTML.includes(%q)`, nanoseconds(classes.Sum.Blocked.Time)))
	p.Click(".range-chip button")
	p.Until(fmt.Sprintf(`document.querySelector("[data-table=classes] .sum")?.innerHTML.includes(%q)`, nanoseconds(whole.Sum.Blocked.Time)))
}

// nanoseconds formats a time as the tooltips of the page do.
func nanoseconds(ns int64) string {
	text := strconv.FormatInt(ns, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text + " ns"
}

func TestClickShowsBothSides(t *testing.T) {
	t.Parallel()
	p := openLanes(t, early)
	// The longest arrow ends this blocked interval.
	p.Until("weftPlane.drawn() > 0")
	arrow := browser.Eval[viewapi.Arrow](p, `(() => { const a = weftPlane.arrows.filter((a) => a.kind === 2 && a.to_start > 0 && a.to_time < 6e8)
		.sort((a, b) => b.to_time - b.to_start - a.to_time + a.to_start)[0]; return a; })()`)
	at := browser.Eval[browser.Point](p, fmt.Sprintf(`(() => { const r = document.querySelector("canvas.plane").getBoundingClientRect();
		const place = weftPlane.place(%d); return {x: r.x + weftPlane.x(%d), y: r.y + 26 + place.y + place.height / 2 - weftPlane.scrollTop}; })()`,
		arrow.To, (arrow.ToStart+arrow.ToTime)/2))
	p.Hover(at)
	p.Until(`document.querySelector(".tip")?.innerText.includes("blocked")`)
	p.ClickAt(at)
	p.Until(`document.querySelector(".detail h2")`)
	want := get[viewapi.Interval](t, simulated(t), fmt.Sprintf("sessions/%s/interval?thread=%d&at=%d", finished, arrow.To, arrow.ToStart))
	assert.Equal(t, want.Title, p.Text(".detail h2"))
	assert.Equal(t, want.Text, p.Text(".detail .sentence"))
	require.NotNil(t, want.Stack)
	require.NotNil(t, want.Owner)
	require.NotNil(t, want.Owner.Stack)
	assert.Equal(t, want.Stack.Frames, p.Texts("[data-side=waited] li"), "where it waited")
	require.NotEmpty(t, want.Holders)
	longest := want.Holders[0] // who held it longest, not who owned it at first
	require.NotEqual(t, want.Owner.Thread, longest.Thread)
	require.NotNil(t, longest.Stack)
	assert.Equal(t, longest.Stack.Frames, p.Texts("[data-side=held] li"), "where it was held")
	assert.Contains(t, p.Text("[data-side=held] h3"), longest.Thread.Name)
	assert.Equal(t, want.Span.URL, browser.Eval[string](p, `document.querySelector(".detail header a.button").href`))

	p.ClickText(".detail .facts .link", "show")
	p.Until(fmt.Sprintf("weftPlane.chosen?.thread.id === %d", want.Cause.Thread.ID)) // its title may equal that of the previous one
	assert.Equal(t, want.Cause.Interval.Title, p.Text(".detail h2"))
	var chosen struct{ Thread viewapi.ThreadRef }
	require.NoError(t, json.Unmarshal([]byte(browser.Eval[string](p, "JSON.stringify(weftPlane.chosen)")), &chosen))
	assert.Equal(t, want.Cause.Thread, chosen.Thread)
	p.Click(`.detail [aria-label^="Close"]`)
	p.Until(`!document.querySelector(".detail")`)
}
