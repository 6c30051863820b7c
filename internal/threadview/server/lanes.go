// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// maxAnswer bounds the bytes of an answer, about.
const (
	maxAnswer = 200_000
	laneRoom  = 320 // bytes of a lane without its runs and names
	labelRoom = 24  // bytes of a label without its text
)

// labelSteps is how long a run is that has room for a label: a step is about a pixel.
const labelSteps = 32

// lanes returns lanes of threads.
func (q *query) lanes() (any, *Problem) {
	sel := q.selected()
	width := q.number("width", 1000, 1, 4000)
	q.paged(50, 200)
	order := ordered[viewapi.ThreadRow](q.params, "id")
	if p := q.done(); p != nil {
		return nil, p
	}
	list := q.laneOrder(sel, order)
	out := viewapi.Lanes{From: q.rel(q.from), To: q.rel(q.to), Version: q.sn.Version, Total: len(list), Offset: q.page.offset}
	list = piece(list, q.page)
	out.Step = (int64(q.to-q.from) + width - 1) / width
	for factor := q.laneFactor(list, out.Step); ; {
		step := out.Step * int64(factor)
		lanes, room := q.paint(list, step)
		if steps := q.steps(step); room <= maxAnswer || steps <= 8 {
			out.Step, out.Steps, out.Lanes = step, steps, lanes
			return out, nil
		}
		factor = max(factor+1, factor*room/maxAnswer)
	}
}

// steps is the number of steps of the range.
func (q *query) steps(step int64) int { return int((int64(q.to-q.from) + step - 1) / step) }

// laneFactor estimates from a few lanes how much longer than requested the steps must be, so that most answers are made only once.
func (q *query) laneFactor(list []int, step int64) int {
	const few = 4
	if len(list) <= few {
		return 1
	}
	var some []int
	for i := range few {
		some = append(some, list[i*len(list)/few])
	}
	factor := 1
	for factor < q.steps(step) {
		_, room := q.paint(some, step*int64(factor))
		if room*len(list)/few <= maxAnswer {
			break
		}
		factor = max(factor+1, factor*room*len(list)/few/maxAnswer)
	}
	return factor
}

// paint returns lanes, and estimates their bytes.
func (q *query) paint(list []int, step int64) (lanes []viewapi.Lane, room int) {
	lanes = make([]viewapi.Lane, 0, len(list))
	for _, i := range list {
		p := painter{q: q, step: step, steps: q.steps(step)}
		lane := p.lane(i)
		for _, l := range lane.Labels {
			room += labelRoom + len(l.Text)
		}
		room += laneRoom + 6*(len(lane.Thread.Name)+len(lane.Thread.Group)+len(lane.Thread.Pool)+len(lane.Thread.VirtualGroup)) + digits(lane.Width) + digits(lane.Code)
		lanes = append(lanes, lane)
	}
	return lanes, room
}

// digits is the length of numbers in JSON.
func digits[T int | int64](list []T) (n int) {
	for _, v := range list {
		for n += 2; v >= 10; v /= 10 {
			n++
		}
	}
	return n
}

// laneOrder returns the selected threads in the requested order. It computes their sums only if needed.
func (q *query) laneOrder(sel selection, order func([]viewapi.ThreadRow)) []int {
	var rows []viewapi.ThreadRow
	switch q.values.Get("sort") {
	case "", "id", "name", "group", "pool", "from", "to", "daemon", "virtual", "dead":
		for _, i := range sel.list {
			rows = append(rows, viewapi.ThreadRow{Thread: q.thread(i)})
		}
	default:
		rows, _ = q.threadRows(sel)
	}
	order(rows)
	list := make([]int, len(rows))
	for i := range rows {
		list[i] = q.sn.Thread(jvmthread.ThreadID(rows[i].ID))
	}
	return list
}

// painter makes the runs of a lane.
type painter struct {
	q     *query
	step  int64
	steps int

	out   viewapi.Lane
	used  int64 // time of the step
	mix   [viewapi.NoState + 1]int64
	marks int
	count int
	done  int // steps covered by runs
}

// lane paints a thread.
func (p *painter) lane(thread int) viewapi.Lane {
	q := p.q
	p.out = viewapi.Lane{Thread: q.thread(thread), Width: []int{}, Code: []int{}, Labels: []viewapi.RunLabel{}}
	last := q.from
	end := q.from + jvmthread.Time(p.step*int64(p.steps))
	c := q.sn.Walk(thread, q.from, end)
	for c.Next() {
		if c.Start > last {
			p.add(nil, int64(c.Start-last))
			last = c.Start
		}
		p.add(&c, int64(max(0, min(c.End, end)-last)))
		last = max(last, min(c.End, end))
	}
	if last < end {
		p.add(nil, int64(end-last))
	}
	return p.out
}

// add appends a time in the interval of a cursor, or in which the thread does not exist.
func (p *painter) add(c *store.Cursor, length int64) {
	state, marks := viewapi.NoState, 0
	if c != nil {
		shown := c.Shown()
		state, marks = int(shown), laneMarks(shown, c.Marks)
	}
	if length == 0 {
		p.count++
		p.marks |= marks
	}
	for length > 0 {
		if whole := length / p.step; whole > 0 && p.count == 0 {
			p.run(int(whole), code(state, viewapi.NoState, 15, marks))
			p.label(c, whole)
			length -= whole * p.step
			continue
		}
		part := min(length, p.step-p.used)
		p.mix[state] += part
		p.used += part
		length -= part
		p.count++
		p.marks |= marks
		if p.used == p.step {
			p.flush()
		}
	}
}

// flush ends a step that is shared or contains the end of an interval.
func (p *painter) flush() {
	first, second := viewapi.NoState, viewapi.NoState
	for s := range viewapi.NoState {
		switch {
		case p.mix[s] == 0:
		case p.mix[s] > p.mix[first]:
			first, second = s, first
		case second == viewapi.NoState || p.mix[s] > p.mix[second]:
			second = s
		}
	}
	share := 15
	if second != viewapi.NoState {
		share = int((p.mix[first]*15 + p.step/2) / p.step)
	}
	if p.count > 1 {
		p.marks |= viewapi.MarkMixed
	}
	p.run(1, code(first, second, share, p.marks))
	p.mix, p.used, p.count, p.marks = [viewapi.NoState + 1]int64{}, 0, 0, 0
}

func (p *painter) run(width, code int) {
	width = min(width, p.steps-p.done)
	if width <= 0 {
		return
	}
	p.done += width
	l := &p.out
	if n := len(l.Code); n > 0 && l.Code[n-1] == code {
		l.Width[n-1] += width
		return
	}
	l.Width = append(l.Width, width)
	l.Code = append(l.Code, code)
}

// label says what the thread waited for in the last run, which has some steps of an interval.
func (p *painter) label(c *store.Cursor, steps int64) {
	if c == nil || c.Wait() == jvmthread.WaitNone || steps < labelSteps {
		return
	}
	iv := c.Interval()
	label := viewapi.RunLabel{Run: len(p.out.Code) - 1, Text: p.q.sn.Title(&iv)}
	if n := len(p.out.Labels); n == 0 || p.out.Labels[n-1].Run != label.Run {
		p.out.Labels = append(p.out.Labels, label)
	}
}

func code(first, second, share, marks int) int { return first | second<<4 | share<<8 | marks<<12 }

// laneMarks returns the marks of a run for an interval.
func laneMarks(s jvmthread.State, m jvmthread.Marks) (out int) {
	out = int(m) & (viewapi.MarkTimedOut | viewapi.MarkInterrupted | viewapi.MarkOpen | viewapi.MarkPartial) // the bits are the same
	switch s {
	case jvmthread.StateDeadlocked:
		out |= viewapi.MarkDeadlocked | viewapi.MarkStopped
	case jvmthread.StateBlocked, jvmthread.StateReentering:
		out |= viewapi.MarkStopped
	case jvmthread.StateUnknown:
		out |= viewapi.MarkUnknown
	}
	return out
}

// minimap returns the sums of all selected threads over time.
func (q *query) minimap() (any, *Problem) {
	sel := q.selected()
	width := q.number("width", 500, 1, 2000)
	if p := q.done(); p != nil {
		return nil, p
	}
	out := viewapi.Minimap{From: q.rel(q.from), To: q.rel(q.to)}
	out.Step = (int64(q.to-q.from) + width - 1) / width
	for {
		out.Steps = q.steps(out.Step)
		out.Time = q.sn.Density(q.from, q.to, jvmthread.Time(out.Step), sel.has)
		room := 0
		for _, list := range out.Time {
			room += len(list) * 13
		}
		if room <= maxAnswer {
			return out, nil
		}
		out.Step *= 2
	}
}
