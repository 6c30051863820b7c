// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// oracleHolders divides contended waits among holders a segment at a time: slow, but without the code of the server. Its keys are the index of the
// lock and the ID of the thread, 0 if it is unknown. Shared holds may be off by a nanosecond in each segment.
func oracleHolders(sn *store.Snapshot, from, to jvmthread.Time) (held map[[2]uint64]int64, shared bool) {
	waits, holds := map[store.LockIndex][]store.Interval{}, map[store.LockIndex][]store.Hold{}
	all := make([]bool, len(sn.Threads))
	for i := range all {
		all[i] = sn.Threads[i].Known
	}
	sn.Sweep(from, to, all, func(c *store.Cursor) {
		if as := c.As(); as == jvmthread.StateBlocked || as == jvmthread.StateDeadlocked {
			waits[c.Lock()] = append(waits[c.Lock()], c.Interval())
		}
	})
	sn.Holds(from, to, func(h store.Hold) bool {
		shared = shared || h.Marks&jvmthread.HoldShared != 0
		holds[h.Lock] = append(holds[h.Lock], h)
		return true
	})
	held = map[[2]uint64]int64{}
	for lock, list := range waits {
		cuts := []jvmthread.Time{from, to}
		for _, iv := range list {
			cuts = append(cuts, iv.Start, iv.End)
		}
		for _, h := range holds[lock] {
			cuts = append(cuts, h.Start, h.End)
		}
		slices.Sort(cuts)
		cuts = slices.Compact(slices.DeleteFunc(cuts, func(t jvmthread.Time) bool { return t < from || t > to }))
		for i := range len(cuts) - 1 {
			at, length := cuts[i], int64(cuts[i+1]-cuts[i])
			var waiting int64
			for _, iv := range list {
				if iv.Start <= at && at < iv.End {
					waiting++
				}
			}
			var owners []store.Hold
			for _, h := range holds[lock] {
				if lock != 0 && h.Start <= at && at < h.End {
					owners = append(owners, h)
				}
			}
			slices.SortStableFunc(owners, func(a, b store.Hold) int { return cmp.Compare(a.Start, b.Start) })
			switch n := int64(len(owners)); {
			case waiting == 0:
			case n == 0:
				held[[2]uint64{uint64(lock), 0}] += waiting * length
			case owners[0].Marks&jvmthread.HoldShared == 0:
				held[[2]uint64{uint64(lock), uint64(sn.Threads[owners[0].Thread].ID)}] += waiting * length
			default:
				for _, h := range owners {
					held[[2]uint64{uint64(lock), uint64(sn.Threads[h.Thread].ID)}] += waiting * length / n
				}
			}
		}
	}
	return held, shared
}

func waitsOf(row *viewapi.HolderRow) viewapi.StateTime {
	return viewapi.StateTime{Count: row.Waits, Time: row.Time}
}

// Each holder of each lock object has what an independent calculation says, and the rows of a lock add up to its blocked time.
func TestHoldersMatchAnOracle(t *testing.T) {
	known, unknown := 0, 0
	for seed := range uint64(6) {
		f := newFixture(t, seed, 5+int(seed)*2, 1+int(seed%3), 900, time.Duration(300+200*seed))
		sn := f.store.Session(sessionID).Snapshot()
		rng := rand.New(rand.NewPCG(seed, 3))
		for range 4 {
			from := sn.From + jvmthread.Time(rng.Int64N(int64(sn.To-sn.From)))
			to := from + 1 + jvmthread.Time(rng.Int64N(int64(sn.To-from)))
			scope := fmt.Sprintf("from=%d&to=%d", from-sn.Origin, to-sn.Origin)
			want, shared := oracleHolders(sn, from, to)
			require.False(t, shared, "the times of shared holds are not exact")
			got := map[[2]uint64]int64{}
			for _, l := range ask[viewapi.Locks](f, "/locks?limit=500&"+scope).Locks {
				table := ask[viewapi.Holders](f, fmt.Sprintf("/holders?limit=200&locks=%d&%s", l.Lock.ID, scope))
				require.False(t, table.Partial)
				require.Equal(t, l.Blocked, waitsOf(&table.Sum), "%s of %s", l.Lock.Class, scope)
				var sum viewapi.StateTime
				for _, row := range table.Holders {
					sum.Count, sum.Time = sum.Count+row.Waits, sum.Time+row.Time
					if row.Time > 0 {
						got[[2]uint64{uint64(l.Lock.ID), row.ID}] += row.Time
					}
					if row.What == viewapi.HolderUnknown {
						unknown++
					} else {
						known++
						require.Equal(t, viewapi.HolderThread, row.What)
					}
					require.NotZero(t, row.Waiters, "%+v", row)
					require.NotNil(t, row.Wait)
				}
				require.Equal(t, l.Blocked, sum)
			}
			for k := range want {
				if k[0] == 0 {
					delete(want, k) // an unknown lock has no row in the table of locks
				}
			}
			require.Equal(t, want, got, scope)
		}
	}
	assert.Greater(t, known, 20)
	assert.Greater(t, unknown, 2)
}

// The flame graph and the table of holders have the same sums for each lock and for what is not known, for any selection of threads.
func TestHoldersMatchTheFlameGraph(t *testing.T) {
	for seed := range uint64(6) {
		f := newFixture(t, seed, 6+int(seed)*2, 1+int(seed%4), 3000, time.Duration(300+200*seed))
		for _, scope := range []string{"", "&threads=1-4", "&from=4000&group=pool"} {
			flame := ask[viewapi.Flame](f, "/flame?width=4000&limit=4000"+scope)
			type key struct{ name, class string }
			want, lost := map[key]viewapi.StateTime{}, map[key]int64{}
			for _, l := range flame.Locks {
				want[key{l.Name, l.Class}] = l.Sum
			}
			for i, parent := range flame.Holders.Parent {
				if parent < 0 && flame.Holders.Name[i] == viewapi.FlameNoHolder && flame.Holders.Time[i] > 0 {
					l := flame.Locks[-1-parent]
					lost[key{l.Name, l.Class}] = flame.Holders.Time[i]
				}
			}
			for _, by := range []string{"thread", "pool"} {
				table := ask[viewapi.Holders](f, "/holders?limit=200&by="+by+scope)
				require.Equal(t, flame.Sum, waitsOf(&table.Sum))
				got, unknown := map[key]viewapi.StateTime{}, map[key]int64{}
				for _, row := range table.Holders {
					k := key{row.Lock, row.Class}
					got[k] = viewapi.StateTime{Count: got[k].Count + row.Waits, Time: got[k].Time + row.Time}
					if row.What == viewapi.HolderUnknown && row.Time > 0 {
						unknown[k] = row.Time
					}
				}
				require.Equal(t, want, got, "by %s%s", by, scope)
				require.Equal(t, lost, unknown, "by %s%s", by, scope)
			}
		}
	}
}

// The table says who held the lock, what it did, and who waited for it.
func TestHoldersOfReportAndMatchers(t *testing.T) {
	f := reportAndMatchers(t, 170*time.Millisecond)
	table := ask[viewapi.Holders](f, "/holders?lock=OrderBook.lock")
	require.Len(t, table.Holders, 4)
	report := table.Holders[0]
	assert.Equal(t, []string{"OrderBook.lock", "lock", "thread", "report", "com.acme.Report.write", "asleep in Report.write"},
		[]string{report.Lock, report.Kind, report.What, report.Holder, report.Method, report.Doing})
	assert.Greater(t, report.DoingShare, 0.9)
	assert.Equal(t, []int{1, 1, 3}, []int{report.Objects, report.Threads, report.Waiters})
	assert.Equal(t, []string{"matcher-*"}, report.Who)
	assert.NotZero(t, report.LockID)
	assert.Greater(t, report.Longest, 200*ms)
	iv := ask[viewapi.Interval](f, fmt.Sprintf("/interval?thread=%d&seq=%d", report.Wait.Thread.ID, report.Wait.Seq))
	assert.Equal(t, "lock", iv.Wait)
	assert.Contains(t, iv.Text, "report held it")
	most := ask[viewapi.Answer](f, fmt.Sprintf("/answer?to=%d", (100+300*threadtest.ReportRounds)*ms)).Most
	assert.Equal(t, most.Time, table.Sum.Time)

	pools := ask[viewapi.Holders](f, "/holders?by=pool").Holders
	require.Len(t, pools, 4)
	assert.Equal(t, []string{"report", "thread"}, []string{pools[0].Holder, pools[0].What})
	clients := pools[slices.IndexFunc(pools, func(r viewapi.HolderRow) bool { return r.Lock == "HikariPool" })]
	assert.Equal(t, []string{"client-*", "pool", "asleep in Shop.query"}, []string{clients.Holder, clients.What, clients.Doing})
	assert.Equal(t, threadtest.PoolClients, clients.Threads)

	one := ask[viewapi.Holders](f, fmt.Sprintf("/holders?holder=%d", report.ID))
	require.Len(t, one.Holders, 1)
	assert.Equal(t, report, one.Holders[0])
	assert.Empty(t, ask[viewapi.Holders](f, fmt.Sprintf("/holders?to=%d", 90*ms)).Holders)
	second := ask[viewapi.Holders](f, "/holders?offset=1&limit=2")
	assert.Equal(t, ask[viewapi.Holders](f, "/holders").Holders[1:3], second.Holders)
	for query, want := range map[string]string{"by=x": "by: want one of thread, pool", "sort=x": "sort: unknown field", "x=1": "x: unknown parameter"} {
		status, body := f.get("sessions/" + sessionID.String() + "/holders?" + query)
		assert.Equal(t, http.StatusBadRequest, status, query)
		assert.Contains(t, string(body), want)
	}
}

// A file has all rows, with who waited as text.
func TestHoldersAsAFile(t *testing.T) {
	f := reportAndMatchers(t, 170*time.Millisecond)
	status, body := f.get("sessions/" + sessionID.String() + "/export?table=holders")
	require.Equal(t, http.StatusOK, status)
	lines, err := csv.NewReader(strings.NewReader(string(body))).ReadAll()
	require.NoError(t, err)
	table := ask[viewapi.Holders](f, "/holders")
	require.Len(t, lines, 1+table.Total)
	column := func(name string) string { return lines[1][slices.Index(lines[0], name)] }
	assert.Equal(t, []string{"report", "matcher-*", strconv.FormatInt(table.Holders[0].Time, 10)}, []string{column("holder"), column("who"), column("time")})
}

// Without a known holder all of the time is unknown, and says who waited.
func TestHoldersThatAreNotKnown(t *testing.T) {
	h, err := threadtest.Parse("0 A threadStart\n0 B threadStart\n10 B park lock=L\n2010 A unpark target=B\n2010 B unparked\n2030 A yield")
	require.NoError(t, err)
	f := fixtureOf(t, symbols.New(symbols.DefaultLimits()), h.Events, time.Second)
	table := ask[viewapi.Holders](f, "/holders")
	blocked := ask[viewapi.Threads](f, "/threads").Sum.Blocked
	assert.Equal(t, blocked, waitsOf(&table.Sum))
	for _, row := range table.Holders {
		assert.Equal(t, viewapi.HolderUnknown, row.What)
		assert.Equal(t, 1, row.Waiters)
	}
}
