// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/weft-otel/weft/cmd/weft/internal/units"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

// table returns the rows of a tab, in the order of the server.
func (s *snapshot) table(tab int, zone *time.Location) table {
	t := table{columns: tabColumns[tab]}
	switch tab {
	case nowTab:
		for i := range s.waiting.Rows {
			t.rows = append(t.rows, s.waitingRow(&s.waiting.Rows[i]))
		}
	case waitsTab:
		for i := range s.callers.Callers {
			t.rows = append(t.rows, s.callerRow(&s.callers.Callers[i]))
		}
	case locksTab:
		for i := range s.locks.Locks {
			t.rows = append(t.rows, s.lockRow(&s.locks.Locks[i]))
		}
	case threadsTab:
		now := make(map[uint64]*viewapi.WaitingRow, len(s.waiting.Rows))
		for i := range s.waiting.Rows {
			now[s.waiting.Rows[i].Thread.ID] = &s.waiting.Rows[i]
		}
		for i := range s.threads.Threads {
			t.rows = append(t.rows, s.threadRow(&s.threads.Threads[i], now))
		}
	case incidentsTab:
		for i := range s.incidents.Incidents {
			t.rows = append(t.rows, s.incidentRow(&s.incidents.Incidents[i], zone))
		}
	}
	return t
}

// totals returns how many rows of a tab the server has.
func (s *snapshot) totals() [tabCount]int {
	return [tabCount]int{s.waiting.Total, s.callers.Total, s.locks.Total, s.threads.Total, s.incidents.Total}
}

func (s *snapshot) waitingRow(w *viewapi.WaitingRow) row {
	holder := "-"
	if w.Holder != nil {
		holder = w.Holder.Name
	}
	state := s.state(w.State)
	r := row{key: strconv.FormatUint(w.Thread.ID, 10), of: w, cells: []cell{
		word(w.Thread.Name),
		{text: state, style: styleOf(state)},
		length(w.Time), word(forWhat(w)), word(holder), word(w.Doing), word(w.Line),
		word(wording.SimpleFunction(w.Method)),
	}}
	if w.Deadlock != "" {
		r.style = alarm
	}
	return r
}

// forWhat returns what a thread waits for: "OrderBook.lock", "queue LinkedBlockingQueue", "sleep".
func forWhat(w *viewapi.WaitingRow) string {
	if w.Object != "" && (w.Wait == "lock" || w.Wait == "") {
		return w.Object
	}
	return strings.TrimSpace(w.Wait + " " + w.Object)
}

func styleOf(state string) style {
	switch state {
	case "deadlocked":
		return alarm
	case "blocked", "reentering":
		return stopped
	case "runnable":
		return plain
	}
	return moving
}

func (s *snapshot) callerRow(c *viewapi.CallerRow) row {
	method := cmp.Or(wording.SimpleFunction(c.Method), "(no stack)")
	return row{key: c.Method + "\x00" + c.Class + "\x00" + c.Name, of: c, cells: []cell{
		word(method), word(cmp.Or(c.Name, wording.SimpleClass(c.Class))), word(c.Wait), number(c.Stats.Count), rate(c.Stats.Count, s.to-s.from),
		length(c.Stats.Time), length(c.Stats.Average), length(c.Stats.P95), length(c.Stats.Max), number(int64(c.Threads)),
	}}
}

func (s *snapshot) lockRow(l *viewapi.LockRow) row {
	return row{key: strconv.FormatUint(uint64(l.Lock.ID), 10), of: l, cells: []cell{
		word(lockName(l)), word(l.Kind), number(l.Blocked.Count), rate(l.Blocked.Count, s.to-s.from),
		length(l.Blocked.Time), length(l.Held.Time), number(int64(l.Waiters)), number(int64(l.Holders)), number(int64(l.Handoffs)),
		number(int64(l.Convoy)),
	}}
}

// lockName distinguishes locks of one name by the hash, which thread dumps also show.
func lockName(l *viewapi.LockRow) string {
	name := cmp.Or(l.Name, wording.SimpleClass(l.Lock.Class))
	if l.Lock.Hash != "" {
		name += " @" + l.Lock.Hash
	}
	return name
}

func (s *snapshot) threadRow(t *viewapi.ThreadRow, waiting map[uint64]*viewapi.WaitingRow) row {
	doing := cell{text: "-"}
	style := plain
	switch w := waiting[t.ID]; {
	case t.Dead:
		doing.text = "ended"
	case w != nil:
		state := s.state(w.State)
		doing = cell{text: cleaned(strings.TrimSpace(state+" "+w.Object), maxCell), by: float64(w.Time), style: styleOf(state)}
		if w.Deadlock != "" {
			style = alarm
		}
	}
	in := func(names ...string) (time int64) {
		for i, st := range t.States {
			for _, name := range names {
				if s.state(i) == name {
					time += st.Time
				}
			}
		}
		return time
	}
	return row{key: strconv.FormatUint(t.ID, 10), of: t, style: style, cells: []cell{
		word(t.Name), doing, length(t.Blocked.Time), percent(t.Blocked.Time, t.Time), number(t.Blocked.Count), rate(t.Blocked.Count, s.to-s.from),
		percent(in("runnable"), t.Time), percent(in("waiting", "parked", "joining"), t.Time), percent(in("sleeping"), t.Time),
		word(cmp.Or(t.Pool, t.VirtualGroup, t.Group)),
	}}
}

func (s *snapshot) incidentRow(i *viewapi.Incident, zone *time.Location) row {
	r := row{key: strconv.FormatInt(i.From, 10) + i.Name, of: i, cells: []cell{
		{text: s.clock(i.From, zone), by: float64(i.From)},
		word(i.Name), length(i.To - i.From), length(i.Blocked), length(i.Longest),
		number(int64(i.Waited)), number(int64(i.Threads)),
		{text: clean(i.Text)},
	}}
	if i.Open {
		r.cells[2].text = "open " + strings.TrimSpace(r.cells[2].text)
	}
	if i.Deadlock {
		r.style = alarm
	}
	return r
}

func word(text string) cell { return cell{text: cmp.Or(cleaned(text, maxCell), "-")} }

// length is a duration with aligned units.
func length(ns int64) cell {
	return cell{text: units.Column(time.Duration(max(0, ns))), by: float64(ns)}
}

func number(n int64) cell {
	if n == 0 {
		return cell{text: "-"}
	}
	return cell{text: wording.Grouped(n), by: float64(n)}
}

// rate is how often something happened in a second.
func rate(count, time int64) cell {
	r := perSecond(count, time)
	switch {
	case r == 0:
		return cell{text: "-"}
	case r < 0.095:
		return cell{text: "<0.1", by: r}
	case r < 9.95:
		return cell{text: strconv.FormatFloat(r, 'f', 1, 64), by: r}
	}
	return cell{text: wording.Grouped(int64(r + 0.5)), by: r}
}

func percent(part, whole int64) cell {
	if part <= 0 || whole <= 0 {
		return cell{text: "-"}
	}
	share := float64(part) / float64(whole)
	return cell{text: wording.Percent(share), by: share}
}
