// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/e2e/browser"
	"github.com/weft-otel/weft/e2e/runtimes"
)

// recordPrices records Tomcat, whose requests need a lock that a thread keeps while it fetches prices.
func recordPrices(t *testing.T, file string) {
	t.Helper()
	const items = 100 // the others cost nothing
	l := runtimes.Load{Clients: 500, Requests: 6, Path: "/price/", Want: func(client int) string {
		if client >= items {
			return "0"
		}
		return strconv.Itoa(client * client)
	}}
	address := freeAddress(t)
	host, port, _ := strings.Cut(address, ":")
	serve(t, java(t, jdks[0], file, "tomcat", "-Xmx512m", "-cp", withJars(t, "tomcat"), "com.acme.prices.PriceServer", host, port, "500"), address, l)
}

// visibleText is all text in the window that nothing covers.
const visibleText = `(() => {
	const out = [];
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	const range = document.createRange();
	while (walker.nextNode()) {
		const node = walker.currentNode;
		if (!node.data.trim()) continue;
		range.selectNodeContents(node);
		const seen = [...range.getClientRects()].some((box) => {
			const top = document.elementFromPoint(box.x + Math.min(box.width / 2, 20), box.y + box.height / 2);
			return top && (top.contains(node.parentElement) || node.parentElement.contains(top));
		});
		if (seen) out.push(node.data.trim());
	}
	return out.join(" ");
})()`

// newcomer looks for what they want to know, on one screen after the other.
type newcomer struct {
	t     *testing.T
	page  *browser.Page
	wants map[string]string // patterns
}

// looks strikes off what is on the screen.
func (n *newcomer) looks(where string) {
	n.t.Helper()
	n.reads(where, browser.Eval[string](n.page, visibleText))
}

// reads strikes off what is in a text.
func (n *newcomer) reads(where, text string) {
	n.t.Helper()
	for what, pattern := range n.wants {
		if found := regexp.MustCompile(pattern).FindString(text); found != "" {
			n.t.Logf("%s: %s: %s", where, what, found)
			delete(n.wants, what)
		}
	}
}

// clicksWait clicks the longest wait on the lanes that follow that of the holder.
func (n *newcomer) clicksWait() {
	n.t.Helper()
	n.page.ClickAt(browser.Eval[browser.Point](n.page, `(() => {
		const plane = weftPlane;
		const blocked = 2;
		const box = document.querySelector("canvas.plane").getBoundingClientRect();
		const ruler = document.querySelector(".lanes .corner").getBoundingClientRect().height;
		let best = null;
		for (let y = ruler + 33; y < box.height; y += 22) {
			for (let x = 1; x < box.width; x++) {
				const hit = plane.hit(x, y);
				if (hit?.state === blocked && hit.share === 1 && hit.to - hit.from > (best ? best.to - best.from : 0)) best = {...hit, x, y};
			}
		}
		return {x: box.x + best.x + 1, y: box.y + best.y};
	})()`))
}

// TestNewcomer records a server with 500 threads under load, and opens the recording as somebody would who has never seen the page. What they look
// for is what the program does by construction.
func TestNewcomer(t *testing.T) {
	b := browser.Start(t)
	file := filepath.Join(t.TempDir(), "tomcat.weft")
	recordPrices(t, "file://"+file)
	p := b.Open(t, addressIn(t, start(t, nil, built("weft"), "view", file, "--no-browser")), browser.Window{Width: 1280, Height: 800})
	p.Until(`document.querySelector(".incident-title") && document.querySelector(".answer .lock-name")`)
	wants := func(but ...string) map[string]string {
		all := map[string]string{"lock": `PriceList\.lock`, "holder": `price-reloader`, "method": `PriceList\.fetch`, "sufferers": `\d{3} (http-nio-\S+ )?threads`}
		for _, one := range but {
			delete(all, one)
		}
		return all
	}
	n := newcomer{t: t, page: p, wants: wants()}
	n.looks("first screen")
	assert.Empty(t, n.wants, "not on the first screen")
	n.wants = wants("method") // the holder may run now and then
	n.reads("costliest incident", p.Text(".incident"))
	assert.Empty(t, n.wants, "not in the row of the costliest incident")

	p.Click(".incident-title")
	p.Until(`document.querySelector(".lanes .name") && window.weftPlane?.rows.length > 0`)
	p.Painted()
	p.Until(`weftPlane.cache.complete()`)
	threads := browser.Eval[int](p, `document.querySelectorAll(".lanes .name").length`)
	assert.Less(t, threads, 60, "rows of the episode")
	assert.Regexp(t, `price-reloader`, p.Text(".lanes .name"), "the first lane is that of the holder")

	n.wants = wants("method", "sufferers") // the one that suffers was clicked
	n.clicksWait()
	p.Until(`document.querySelector(".detail .sentence")`)
	n.reads("wait", p.Text(".detail"))
	assert.Empty(t, n.wants, "not in the details of a wait")
}
