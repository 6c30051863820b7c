// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// pathTables fills in the sums of a path.
func (q *query) pathTables(g *criticalpath.Graph, path *criticalpath.Path, out *viewapi.Path) {
	var r criticalpath.Retiming
	g.Retime(q.from, q.to, &r)
	numbers := q.lockNumbers(path)
	out.Locks = q.shares(path, criticalpath.ByLock, numbers, savings(&r, path.Thread, criticalpath.ByLock))
	out.Classes = q.shares(path, criticalpath.ByClass, numbers, savings(&r, path.Thread, criticalpath.ByClass))
	out.Sites = q.shares(path, criticalpath.BySite, numbers, nil)

	threads, kinds := make(map[jvmthread.ThreadID]*viewapi.PathRow), make(map[criticalpath.Kind]*viewapi.PathRow)
	longest := map[*viewapi.PathRow]criticalpath.Segment{}
	add := func(row *viewapi.PathRow, s criticalpath.Segment) {
		row.Count++
		row.Time += int64(s.End - s.Start)
		if old, ok := longest[row]; !ok || s.End-s.Start > old.End-old.Start {
			longest[row] = s
		}
	}
	for _, s := range path.Segments {
		if threads[s.Thread] == nil {
			ref := q.threadRef(q.sn.Thread(s.Thread))
			threads[s.Thread] = &viewapi.PathRow{Name: ref.Name, Thread: &ref}
		}
		if kinds[s.Kind] == nil {
			kinds[s.Kind] = &viewapi.PathRow{Name: s.Kind.String()}
		}
		add(threads[s.Thread], s)
		add(kinds[s.Kind], s)
	}
	finish := func(row *viewapi.PathRow) viewapi.PathRow {
		s := longest[row]
		row.First = q.find(s.Thread, s.Seq, s.Start)
		return *row
	}
	for _, row := range threads {
		out.PerThread = append(out.PerThread, finish(row))
	}
	for _, row := range kinds {
		out.PerKind = append(out.PerKind, finish(row))
	}
	for _, list := range []*[]viewapi.PathRow{&out.PerThread, &out.PerKind, &out.Locks, &out.Classes, &out.Sites} {
		rows := *list
		for i := range rows {
			rows[i].Share = float64(rows[i].Time) / float64(max(1, path.End-path.Start))
		}
		slices.SortStableFunc(rows, func(a, b viewapi.PathRow) int {
			return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Name, b.Name), cmp.Compare(threadOf(&a), threadOf(&b)), cmp.Compare(a.State, b.State))
		})
		if !q.file {
			rows = rows[:min(len(rows), max(1, min(maxPathRows, q.most)))]
		}
		*list = rows
	}
	q.page.limit = len(out.Locks) // an answer that is too long is made again with fewer rows
}

func threadOf(r *viewapi.PathRow) uint64 {
	if r.Thread == nil {
		return 0
	}
	return r.Thread.ID
}

// find returns a reference to an interval, or nil if it was discarded.
func (q *query) find(id jvmthread.ThreadID, seq jvmthread.Seq, near jvmthread.Time) *viewapi.Reference {
	thread := q.sn.Thread(id)
	if thread == 0 {
		return nil
	}
	iv, ok := q.sn.Numbered(thread, seq, near)
	if !ok {
		if iv, ok = q.sn.At(thread, near); !ok {
			return nil
		}
	}
	return q.referenceAt(&iv, near)
}

// savings returns the savings for each lock or class, nil if it is unknown. Those that are not in the map save nothing.
func savings(r *criticalpath.Retiming, thread jvmthread.ThreadID, by criticalpath.Grouping) map[jvmthread.LockID]*viewapi.Saving {
	out := map[jvmthread.LockID]*viewapi.Saving{}
	for _, s := range r.AppendSavings(nil, thread, by) {
		out[s.Lock] = nil
		if !s.Unknown {
			out[s.Lock] = &viewapi.Saving{Drag: int64(s.Drag), Bound: int64(s.Bound)}
		}
	}
	return out
}

// lockNumbers returns the numbers of the locks of a path.
func (q *query) lockNumbers(path *criticalpath.Path) map[jvmthread.LockID]store.LockIndex {
	out := map[jvmthread.LockID]store.LockIndex{}
	for i := range path.Waits {
		w := &path.Waits[i]
		if _, ok := out[w.Lock]; ok || w.Lock.IsZero() {
			continue
		}
		if iv, ok := q.sn.Latest(q.sn.Thread(w.Ref.Thread), w.Ref.Seq); ok {
			out[w.Lock] = iv.Lock
		}
	}
	return out
}

func (q *query) shares(
	path *criticalpath.Path, by criticalpath.Grouping, numbers map[jvmthread.LockID]store.LockIndex, saved map[jvmthread.LockID]*viewapi.Saving,
) []viewapi.PathRow {
	shares := path.AppendShares(nil, by)
	rows := make([]viewapi.PathRow, 0, len(shares))
	first := map[criticalpath.Group]*criticalpath.Wait{}
	count := map[criticalpath.Group]int{} // the path may enter a wait several times
	counted := map[jvmthread.IntervalRef]bool{}
	for i := range path.Waits {
		w := &path.Waits[i]
		k := criticalpath.Group{Lock: w.Lock, Kind: w.Kind}
		if by != criticalpath.ByLock {
			k.Lock.Hash = 0
		}
		if by == criticalpath.BySite {
			k.Stack = w.Stack
		}
		if k.Kind == jvmthread.WaitReenter {
			k.Kind = jvmthread.WaitLock
		}
		if first[k] == nil {
			first[k] = w
		}
		if !counted[w.Ref] {
			counted[w.Ref] = true
			count[k]++
		}
	}
	for _, s := range shares {
		row := viewapi.PathRow{
			Name: q.sn.Classes[s.Group.Lock.Class], State: s.Group.Kind.String(), Count: count[s.Group], Time: int64(s.Time),
		}
		if by == criticalpath.ByLock {
			ref := q.lockRef(numbers[s.Group.Lock])
			row.Lock = &ref
		}
		if by == criticalpath.BySite && s.Group.Stack != jvmthread.NoStack {
			row.Stack = uint32(s.Group.Stack)
			if p := q.sn.Site(store.StackID(s.Group.Stack)); p.Function != "" {
				row.Name = p.Function
			}
		}
		row.Saving = saved[s.Group.Lock]
		if w := first[s.Group]; w != nil {
			if iv, ok := q.sn.Latest(q.sn.Thread(w.Ref.Thread), w.Ref.Seq); ok {
				row.First = q.reference(&iv)
			}
		}
		rows = append(rows, row)
	}
	return rows
}
