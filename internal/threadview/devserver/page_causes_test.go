// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package main_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

// The first tab has a row for each thing that threads waited for, which leads to its incidents.
func TestCausesAreRanked(t *testing.T) {
	t.Parallel()
	for _, session := range []string{locks, requests} {
		list := get[viewapi.Causes](t, simulated(t), "sessions/"+session+"/causes")
		p := open(t, "s="+session+"&tab=causes")
		answered(p)
		p.Until(`document.querySelectorAll(".cause-row").length > 0`)
		assert.Equal(t, "Causes", p.Text("[role=tab]:first-child"))
		texts := p.Texts(".cause-text")
		assert.Len(t, texts, len(list.Causes))
		for i := range list.Causes {
			assert.Contains(t, texts[i], wording.Plain(list.Causes[i].Text))
			for _, route := range list.Causes[i].Routes {
				assert.Contains(t, texts[i], route.Name)
			}
		}
		assert.Contains(t, p.Text(".answer p"), wording.Plain(list.Causes[0].Text))
		if dir := os.Getenv("WEFT_PICTURES"); dir != "" {
			p.Screenshot(filepath.Join(dir, "causes-"+session[30:]+".png"))
		}
		p.Click(".cause-row .button")
		p.Until(`document.querySelectorAll(".incident-title").length > 0`)
		assert.Len(t, p.Texts(".incident-title"), list.Causes[0].Incidents)
		assert.Equal(t, list.Causes[0].Name, hashOf(t, p).Get("about"))
		p.Close()
	}
}
