// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package web_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/weft-otel/weft/e2e/browser"
)

// lines: name|url|WxH|light/dark|js;;js...
func TestZZShots(t *testing.T) {
	data, err := os.ReadFile("/tmp/page-work/shots.txt")
	if err != nil {
		t.Skip()
	}
	b := browser.Start(t)
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		f := strings.SplitN(line, "|", 5)
		w, h, _ := strings.Cut(f[2], "x")
		wi, _ := strconv.ParseInt(w, 10, 64)
		hi, _ := strconv.ParseInt(h, 10, 64)
		p := b.Open(t, f[1], browser.Window{Width: wi, Height: hi, Dark: f[3] == "dark"})
		time.Sleep(2500 * time.Millisecond)
		if len(f) > 4 && f[4] != "" {
			for _, js := range strings.Split(f[4], ";;") {
				switch {
				case strings.HasPrefix(js, "key:"):
					p.Press(js[4:])
				case strings.HasPrefix(js, "click:"):
					p.Click(js[6:])
				case strings.HasPrefix(js, "text:"):
					sel, text, _ := strings.Cut(js[5:], "=")
					p.ClickText(sel, text)
				case strings.HasPrefix(js, "type:"):
					sel, text, _ := strings.Cut(js[5:], "=")
					p.Type(sel, text)
				default:
					out := browser.Eval[any](p, js)
					if out != nil {
						t.Logf("%s: %v", f[0], out)
					}
				}
				time.Sleep(700 * time.Millisecond)
			}
		}
		var buf []byte
		_ = buf
		p.Screenshot("/tmp/page-work/"+f[0]+".png")
		p.Close()
	}
	_ = chromedp.ModifierCtrl
}
