// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"cmp"
	"time"

	"github.com/weft-otel/weft/cmd/weft/internal/units"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

// threadPane shows in which states a thread was, and where it is now.
func (m *model) threadPane(t *viewapi.ThreadRow) *pane {
	p := &pane{title: clean(t.Name), lines: []paneLine{
		say("id ", wording.Grouped(t.ID), ", group ", cmp.Or(t.Group, "unknown"), when(t.Virtual, ", virtual"),
			when(t.Daemon, ", daemon"), when(t.Dead, ", has ended")),
	}}
	for i := range m.data.waiting.Rows {
		if w := &m.data.waiting.Rows[i]; w.Thread.ID == t.ID {
			p.lines = append(p.lines, m.waited(w)...)
			p.request = stacksOf(w.Thread, w.Since, w)
		}
	}
	p.lines = append(p.lines, paneLine{}, heading("states, ", units.Human(time.Duration(t.Time)), " in total"))
	for i, st := range t.States {
		if st.Time > 0 {
			p.lines = append(p.lines, say("    ", pad(m.data.state(i), 12, false), units.Column(time.Duration(st.Time)), "  ",
				pad(percent(st.Time, t.Time).text, 5, true), "  ", wording.Plural(st.Count, "time")))
		}
	}
	if p.request == nil {
		p.request = stacksOf(viewapi.ThreadRef{ID: t.ID, Name: t.Name}, min(t.To, m.data.session.To)-1, nil)
	}
	return p
}

// incidentPane shows what happened, who held what, and who waited.
func (m *model) incidentPane(i *viewapi.Incident) *pane {
	p := &pane{title: clean(i.Name), lines: []paneLine{
		say(i.Text),
		{},
		say("from ", m.data.clock(i.From, m.zone), " for ", human(i.To-i.From), when(i.Open, ", not over")),
		say(wording.Plural(i.Waited, "wait"), " of ", wording.Plural(i.Threads, "thread"), ", ", human(i.Blocked),
			" in total, longest ", human(i.Longest)),
	}}
	if i.TimedOut > 0 {
		p.lines = append(p.lines, say(wording.Plural(i.TimedOut, "wait"), " timed out"))
	}
	for k := range i.Holds {
		hold := &i.Holds[k]
		p.lines = append(p.lines, paneLine{}, heading("held: ", hold.Text),
			say("    ", hold.Thread.Name, ", ", hold.Object, ", others waited ", human(hold.Blocked)))
		p.lines = append(p.lines, frames(hold.Frames)...)
	}
	for k := range i.Waits {
		wait := &i.Waits[k]
		p.lines = append(p.lines, paneLine{}, heading("waited: ", wait.Text),
			say("    ", wait.Thread.Name, ", ", wait.Object, " for ", human(wait.To-wait.From)))
		p.lines = append(p.lines, frames(wait.Frames)...)
	}
	return p
}

func when(is bool, text string) string {
	if is {
		return text
	}
	return ""
}
