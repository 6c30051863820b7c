// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package main_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/browser"
	"github.com/weft-otel/weft/internal/viewapi"
)

func TestMonitorTablesAddUp(t *testing.T) {
	t.Parallel()
	p := open(t, "s="+finished+"&tab=monitors")
	p.Until(`document.querySelectorAll("[data-table=threads] tbody tr").length > 5 && document.querySelectorAll("[data-table=classes] tbody tr").length > 1`)
	threads := get[viewapi.Threads](t, simulated(t), "sessions/"+finished+"/threads?limit=500&sort=blocked.time").Threads
	p.Click("[data-table=threads] tbody tr:nth-child(1)")
	p.Click("[data-table=threads] tbody tr:nth-child(3)", chromedp.ModifierCtrl)
	p.Until(`document.querySelectorAll("[data-table=threads] tr.chosen").length === 2`)
	ids := fmt.Sprintf("%d,%d", threads[0].ID, threads[2].ID)
	sum := threads[0].Blocked.Time + threads[2].Blocked.Time
	classes := get[viewapi.Classes](t, simulated(t), "sessions/"+finished+"/classes?sort=blocked.time&threads="+ids)
	require.Equal(t, sum, classes.Sum.Blocked.Time, "threads and classes cover the same intervals")
	for _, table := range []string{"threads", "classes", "callers"} {
		p.Until(fmt.Sprintf(`document.querySelector("[data-table=%s] .sum")?.innerHTML.includes(%q)`, table, nanoseconds(sum)))
	}

	p.Click("[data-table=classes] tbody tr:nth-child(1)")
	class := classes.Classes[0].Class
	callers := get[viewapi.Callers](t, simulated(t), "sessions/"+finished+"/callers?threads="+ids+"&class="+url.QueryEscape(class)+"&kind=blocked")
	p.Until(fmt.Sprintf(`document.querySelector("[aria-label=Blocked] .sum")?.innerHTML.includes(%q)`, nanoseconds(callers.Sum.Stats.Time)))
	assert.Len(t, p.Texts("[aria-label=Blocked] tbody tr"), len(callers.Callers))

	kinds := get[viewapi.Kinds](t, simulated(t), "sessions/"+finished+"/kinds?threads="+ids)
	p.Until(fmt.Sprintf(`document.querySelector("[data-table=kinds] .sum")?.innerHTML.includes(%q)`, nanoseconds(kinds.Sum.Stats.Time)))

	waits := get[viewapi.Callers](t, simulated(t), "sessions/"+finished+"/callers?threads="+ids+"&class="+url.QueryEscape(class)+"&kind=reenter")
	p.Choose("[aria-label=Waited] select", "reenter")
	p.Until(fmt.Sprintf(`document.querySelector("[aria-label=Waited] .sum")?.innerHTML.includes(%q)`, nanoseconds(waits.Sum.Stats.Time)))

	p.Click("[aria-label=Blocked] tbody tr:nth-child(1)")
	stack := get[viewapi.Stack](t, simulated(t), fmt.Sprintf("sessions/%s/stack?id=%d", finished, callers.Callers[0].Stacks[0].Stack))
	p.Until(`document.querySelectorAll(".stack-panel .frames li").length > 0`)
	assert.Equal(t, stack.Frames, p.Texts(".stack-panel .frames li"))

	// All threads, with the keyboard.
	browser.Eval[any](p, `void document.querySelector("[data-table=threads] table").focus()`)
	p.Press("a", chromedp.ModifierCtrl)
	p.Until(fmt.Sprintf(`document.querySelector("[data-table=threads] .hint").innerText.startsWith("%d threads")`, len(threads)))
}

// sorts clicks the head of each column of the tables in a part of the page twice, and checks that the rows are in the order that the head shows.
func sorts(t *testing.T, p *browser.Page, within string) {
	t.Helper()
	keys := browser.Eval[[]string](p, fmt.Sprintf(`[...document.querySelectorAll(%q)].map((e) => e.dataset.key)`, within+" th button[data-key]"))
	require.NotEmpty(t, keys, within)
	for _, key := range keys {
		head := within + ` th button[data-key="` + key + `"]`
		var orders []string
		for range 2 {
			before := browser.Eval[string](p, fmt.Sprintf(`document.querySelector(%q).closest("th").ariaSort`, head))
			p.Click(head)
			p.Until(fmt.Sprintf(`document.querySelector(%q).closest("th").ariaSort !== %q`, head, before))
			orders = append(orders, browser.Eval[string](p, fmt.Sprintf(`document.querySelector(%q).closest("th").ariaSort`, head)))
			p.Until(fmt.Sprintf(isSorted, within+" tbody tr:not([aria-hidden])", head))
		}
		assert.ElementsMatch(t, []string{"ascending", "descending"}, orders, "%s by %s", within, key)
	}
}

// isSorted checks that the rows of a table are in the order that the head of a column shows. It compares tooltips (exact times, full names), and skips cells
// with a picture or a rounded number.
const isSorted = `((rows, head) => {
	const th = document.querySelector(head).closest("th");
	const column = [...th.parentElement.children].indexOf(th);
	const cells = [...document.querySelectorAll(rows)].map((row) => row.children[column]);
	const text = (cell) => cell.querySelector("[title$=' ns']")?.title ?? (cell.title || cell.innerText.trim().replace("(unknown)", ""));
	const texts = cells.map(text);
	const number = (text) => Number(text.replace(/[^0-9]/g, ""));
	if (cells.some((cell) => cell.querySelector("svg:not(.icon), input, .share")) || texts.some((text) => /\d (ms|s|min|µs|[KM]iB)$|:\d\d|^–$/.test(text))) return true;
	const collator = new Intl.Collator("en", {numeric: true});
	const compare = texts.every((text) => /^[\d,]+( ns)?$/.test(text)) ? (a, b) => number(a) - number(b) : (a, b) => collator.compare(a, b);
	const sign = th.ariaSort === "ascending" ? 1 : -1;
	return texts.every((text, i) => i === 0 || sign * compare(texts[i - 1], text) <= 0);
})(%q, %q)`

func TestAllColumnsSort(t *testing.T) {
	t.Parallel()
	p := openWindow(t, "s="+finished+"&tab=monitors", browser.Window{Width: 4600, Height: 900}) // wide enough for all columns
	p.Until(`document.querySelectorAll(".monitors tbody tr").length > 20`)
	assert.Zero(t, browser.Eval[int](p, `document.querySelectorAll(".columns.more").length`), "columns that do not fit")
	for _, table := range []string{"[data-table=kinds]", "[data-table=threads]", "[data-table=classes]", "[aria-label=Blocked]", "[aria-label=Waited]"} {
		sorts(t, p, table)
	}
	p.ClickText(".tabs button", "Critical path")
	p.Until(`document.querySelectorAll(".path-view tbody tr").length > 2`)
	sorts(t, p, ".path-view")
	p.ClickText(".tabs button", "Sessions")
	p.Until(`document.querySelectorAll(".sessions tbody tr").length > 2`)
	sorts(t, p, ".sessions")
}

func TestLocksHaveLanes(t *testing.T) {
	t.Parallel()
	p := open(t, "s="+finished+"&tab=locks&view=0-3000000000")
	p.Until(`document.querySelectorAll(".name.lock").length > 3`)
	lanes := get[viewapi.LockLanes](t, simulated(t), "sessions/"+finished+"/locklanes?from=0&to=3000000000&contended=true&per_name=3").Lanes
	for i, text := range p.Texts(".name.lock") {
		assert.True(t, strings.HasPrefix(text, short(lanes[i].Row.Lock.Class)), text)
	}
	untilPixels(t, p, "state-blocked", atLeast(300)) // queues
	untilPixels(t, p, "kind-handoff", atLeast(50))   // handoffs
	hold := lanes[0].Holds[len(lanes[0].Holds)/2]
	box := browser.Eval[browser.Point](p, `(() => { const r = document.querySelector("canvas.plane").getBoundingClientRect(); return {x: r.width, y: r.y}; })()`)
	p.Hover(browser.Point{X: 248 + box.X*float64(hold.From+hold.To)/2/3e9, Y: box.Y + 40})
	p.Until(`/held by|held \d+ times by/.test(document.querySelector(".tip")?.innerText ?? "")`)
	p.Click(".name.lock")
	p.Until(`document.querySelector(".detail dl")`)
	row := lanes[0].Row
	detail := p.Text(".detail dl")
	assert.Contains(t, detail, fmt.Sprintf("%d times", row.Blocked.Count))
	assert.Contains(t, detail, fmt.Sprintf("%d threads", row.Waiters))
	assert.Contains(t, detail, fmt.Sprintf("Handoffs\n%d", row.Handoffs))
	p.ClickText(".detail button", "Convoys")
	p.Until(`document.querySelector("[aria-label=Convoys] tbody tr")`)
	p.Click(".detail tbody tr")
	p.Until(`document.querySelector("#tab-threads").ariaSelected === "true" && document.querySelector(".range-chip")`)
}

func TestPathTableOpensTheSegment(t *testing.T) {
	t.Parallel()
	p := openWindow(t, "s="+finished+"&tab=path", browser.Window{Width: 1280, Height: 2400}) // tables show only the rows in sight
	p.Until(`document.querySelectorAll(".path-view tbody tr").length > 2`)
	path := get[viewapi.Path](t, simulated(t), "sessions/"+finished+"/path")
	assert.Len(t, p.Texts(".path-view tbody tr"), len(path.Parts))
	for _, table := range []struct {
		title string
		rows  []viewapi.PathRow
	}{{"Lock classes", path.Classes}, {"Locks", path.Locks}, {"Call sites", path.Sites}, {"Threads", path.PerThread}, {"Activity", path.PerKind}} {
		p.ClickText(".subtabs button", table.title)
		p.Until(fmt.Sprintf(`document.querySelectorAll(".path-view tbody tr").length === %d`, len(table.rows)))
		assert.Contains(t, browser.Eval[string](p, `document.querySelector(".path-view tbody").innerHTML`), nanoseconds(table.rows[0].Time))
	}
	assert.NotContains(t, p.Text(".path-view"), "_", "identifiers instead of words")
	p.ClickText(".subtabs button", "Lock classes")
	p.ClickText(".path-view td", short(path.Classes[0].Name))
	p.Until(`document.querySelector(".detail h2")`)
	assert.Equal(t, path.Classes[0].First.Title, p.Text(".detail h2"))
	assert.Equal(t, "true", browser.Eval[string](p, `document.querySelector(".button.path").ariaPressed`))
}

// If a range holds too many intervals for a path, the page offers a shorter one.
func TestShorterRangeIsOffered(t *testing.T) {
	t.Parallel()
	s := serve(t, "-path-intervals", "150")
	p := openAt(t, chromium(t), s, "s="+finished+"&tab=path&range=0-200000000", browser.Window{})
	p.Expect("422")
	p.Until(`[...document.querySelectorAll(".answer .link")].some((e) => e.innerText === "shorter range")`)
	assert.NotContains(t, p.Text(".path-view"), "nothing held the thread up")
	p.ClickText(".path-view .problem button", "Select the last")
	p.Until(`document.querySelector(".range-chip")`)
	p.Until(`document.querySelectorAll(".path-view tbody tr").length > 0 && !document.querySelector(".path-view .problem")`)
	p.Until(`document.querySelector(".answer p")?.innerText.match(/earlier|less|critical path|Nothing to report/)`)
}

func TestLogIsFiltered(t *testing.T) {
	t.Parallel()
	p := open(t, "s="+finished+"&tab=log")
	p.Until(`document.querySelectorAll(".log .line").length === 500`)
	log := get[viewapi.Log](t, simulated(t), "sessions/"+finished+"/log?limit=500")
	assert.Equal(t, log.Lines[0].Thread.Name, p.Text(".log .line .who"))
	browser.Eval[any](p, `void (document.querySelector(".log").scrollTop = 1e9)`)
	p.Until(`document.querySelectorAll(".log .line").length > 500`)
	p.Click("[data-what=notify]")
	p.Until(`[...document.querySelectorAll(".log .what")].every((e) => e.textContent === "notify")`)
	p.Click("[data-what=notify]")
	p.Type(".log-view input", "interrupt")
	p.Until(`[...document.querySelectorAll(".log .line")].length > 0 && [...document.querySelectorAll(".log .line")].every((e) => e.textContent.includes("interrupt"))`)
	p.Until(`location.hash.includes("q=interrupt")`)
	p.ClickText(".log-view button", "Copy")
	p.Until(`[...document.querySelectorAll(".log-view button")].some((e) => e.innerText.trim() === "Copied")`)
	p.Click(".log .line .time")
	p.Until(`document.querySelector(".detail h2")`)
}

func TestSearchOpensTheHit(t *testing.T) {
	t.Parallel()
	p := openLanes(t, "s="+finished)
	p.Press("/")
	p.Until(`document.activeElement.matches(".search input")`)
	p.Press("a", chromedp.ModifierCtrl)
	p.Press("orderbook")
	p.Until(`document.querySelectorAll(".hits button").length > 0`)
	p.ClickText(".hits button", "class")
	p.Until(`document.querySelector("[data-table=classes] tr.chosen")`)
	p.Press("/")
	p.Until(`document.activeElement.matches(".search input")`)
	p.Press("a", chromedp.ModifierCtrl)
	p.Press("Matcher.settle")
	p.Until(`[...document.querySelectorAll(".hits button")].some((e) => e.innerText.includes("settle"))`)
	p.Press("\r")
	p.Until(`document.querySelector("#tab-threads").ariaSelected === "true" && document.querySelector(".detail h2")`)
}
