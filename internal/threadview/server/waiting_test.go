// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/engine/deadlock"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/viewapi"
)

const (
	parked  = "at jdk.internal.misc.Unsafe.park(Native Method)\nat java.util.concurrent.locks.LockSupport.park(LockSupport.java:211)\n"
	booking = "at com.acme.Book.add(Book.java:7)\n- lock Book.lock\nat com.acme.Shop.buy(Shop.java:20)\n"
	writing = "at java.lang.Thread.sleep(Native Method)\nat com.acme.Report.write(Report.java:30)\n"
	reading = parked + "at java.util.concurrent.locks.ReentrantReadWriteLock$WriteLock.lock(ReentrantReadWriteLock.java:959)\n" +
		"at com.acme.Prices.set(Prices.java:9)\n"
	pooled   = parked + "at com.zaxxer.hikari.pool.HikariPool.getConnection(HikariPool.java:162)\nat com.acme.Shop.pay(Shop.java:31)\n"
	querying = "at java.lang.Thread.sleep(Native Method)\nat com.acme.Shop.query(Shop.java:55)\n"
	taskless = parked + "at java.util.concurrent.LinkedBlockingQueue.take(LinkedBlockingQueue.java:433)\n" +
		"at java.util.concurrent.ThreadPoolExecutor.getTask(ThreadPoolExecutor.java:1062)\nat java.lang.Thread.run(Thread.java:840)\n"
	settling  = "at com.acme.Account.settle(Account.java:4)\nat com.acme.Bank.run(Bank.java:2)\n"
	reporting = "at com.acme.Report.run(Report.java:3)\n"
)

// historyOf serves a history in the text form of threadtest, with its names of threads. stack=1 is booking, and the others follow.
func historyOf(t *testing.T, text string, length time.Duration) *fixture {
	t.Helper()
	h, err := threadtest.Parse(text)
	require.NoError(t, err)
	sym := h.Symbols()
	for _, stack := range []string{booking, writing, reading, pooled, querying, taskless, settling, reporting} {
		sym.InternStack(stack)
	}
	nameThreads(h, sym, text)
	return fixtureOf(t, sym, h.Events, length)
}

func nameThreads(h *threadtest.History, sym *symbols.Table, text string) {
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 2 {
			sym.SetThread(jvmthread.Thread{ID: h.Thread(fields[1]), Name: fields[1]})
		}
	}
}

// row returns a row of a table as a line, with times in nanoseconds.
func row(r *viewapi.WaitingRow) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s %s %s since %d for %d", r.Thread.Name, jvmthread.State(r.State), r.Wait, r.Since, r.Time)
	for _, part := range []struct{ name, text string }{{"object", r.Object}, {"in", r.Method}, {"at", r.Line}, {"doing", r.Doing}} {
		if part.text != "" {
			s.WriteString(", " + part.name + " " + part.text)
		}
	}
	if r.Holder != nil {
		s.WriteString(", held by " + r.Holder.Name)
	}
	if r.Deadlock != "" {
		s.WriteString(", deadlocked")
	}
	return s.String()
}

func rows(w *viewapi.Waiting) (all []string) {
	for i := range w.Rows {
		all = append(all, row(&w.Rows[i]))
	}
	return all
}

// third waits for second, which waits for first, which sleeps.
const chained = `
0    first threadStart
0    second threadStart
0    third threadStart
0    worker threadStart
0    sleeper threadStart
100  worker park lock=java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject stack=6
200  first sleepStart stack=2
300  second contendedEnter lock=com.acme.Book owner=first stack=1
400  third contendedEnter lock=com.acme.Account owner=second stack=7
450  sleeper sleepStart stack=8
500  first sleepEnd
510  second contendedEntered lock=com.acme.Book
600  third contendedEntered lock=com.acme.Account
700  first yield
`

func TestWaitingOfAChain(t *testing.T) {
	const (
		third = "third blocked lock since 400 for 50, object Account, in com.acme.Account.settle, at Account.java:4, " +
			"doing waiting for Book.lock in Book.add, held by second"
		second = "second blocked lock since 300 for 150, object Book.lock, in com.acme.Book.add, at Book.java:7, " +
			"doing asleep in Report.write, held by first"
		first  = "first sleeping sleep since 200 for 250, in com.acme.Report.write, at Report.java:30"
		worker = "worker parked idle since 100 for 350, in java.util.concurrent.ThreadPoolExecutor.getTask, at ThreadPoolExecutor.java:1062"
		sleep  = "sleeper sleeping sleep since 450 for 0, in com.acme.Report.run, at Report.java:3"
	)
	for _, length := range []time.Duration{time.Second, 130} { // in one window, or in several
		f := historyOf(t, chained, length)
		w := ask[viewapi.Waiting](f, "/waiting?at=450")
		assert.Equal(t, []string{second, third, first, sleep}, rows(&w))
		assert.Equal(t, []int64{450, 4, 2}, []int64{w.At, int64(w.Total), int64(w.Blocked)})
		assert.Len(t, w.Rows[0].Lock.Hash, 1)
		assert.Equal(t, "com.acme.Book", w.Rows[0].Lock.Class)

		for query, want := range map[string][]string{
			"idle=true&name=worker":            {worker},
			"state=blocked":                    {second, third},
			"state=sleeping&limit=1":           {first},
			"sort=time&order=asc":              {sleep, third, second, first},
			"sort=thread.name":                 {first, second, sleep, third},
			"sort=holder.name&order=desc":      {third, second, first, sleep},
			"offset=1&limit=2":                 {third, first},
			"offset=9":                         nil,
			"threads=2":                        {second},
			"state=blocked&name=first|sleeper": nil,
		} {
			w := ask[viewapi.Waiting](f, "/waiting?at=450&"+query)
			assert.Equal(t, want, rows(&w), query)
		}
		stack := ask[viewapi.Stack](f, fmt.Sprintf("/stack?id=%d", w.Rows[0].Stack))
		assert.Equal(t, "com.acme.Book.add(Book.java:7)", stack.Frames[0])
	}
}

// An interval includes its start and not its end. Between the release of a lock and the wake-up of its next owner, no thread holds it.
func TestWaitingAtTheEndsOfIntervals(t *testing.T) {
	f := historyOf(t, chained, time.Second)
	for at, want := range map[int][]string{
		299: {"first"}, 300: {"second", "first"}, 399: {"second", "first"}, 400: {"second", "third", "first"},
		499: {"second", "third", "first", "sleeper"}, 500: {"second", "third", "sleeper"}, 509: {"second", "third", "sleeper"},
		510: {"third", "sleeper"}, 599: {"third", "sleeper"}, 600: {"sleeper"},
		-5: nil, 0: nil,
	} {
		var got []string
		for _, r := range ask[viewapi.Waiting](f, fmt.Sprintf("/waiting?at=%d", at)).Rows {
			got = append(got, r.Thread.Name)
		}
		assert.Equal(t, want, got, at)
	}
}

// The end of the history shows what is open, even if the session has ended.
func TestWaitingAtTheEnd(t *testing.T) {
	f := historyOf(t, strings.Split(chained, "500  first sleepEnd")[0]+"480 worker unparked\n", time.Second)
	w := ask[viewapi.Waiting](f, "/waiting")
	end := ask[viewapi.Session](f, "").To
	require.EqualValues(t, 481, end)
	want := []string{
		"second blocked lock since 300 for 181, object Book.lock, in com.acme.Book.add, at Book.java:7, " +
			"doing asleep in Report.write, held by first",
		"third blocked lock since 400 for 81, object Account, in com.acme.Account.settle, at Account.java:4, " +
			"doing waiting for Book.lock in Book.add, held by second",
		"first sleeping sleep since 200 for 281, in com.acme.Report.write, at Report.java:30",
		"sleeper sleeping sleep since 450 for 31, in com.acme.Report.run, at Report.java:3",
	}
	assert.Equal(t, want, rows(&w))
	assert.Equal(t, end, w.At)
	later := ask[viewapi.Waiting](f, "/waiting?at=9000")
	assert.Equal(t, w, later)
}

// Of several readers that keep a writer waiting, the JVM names one to each writer. Of several clients that have connections of a pool, the
// one that has had its connection longest is named.
func TestWaitingForSeveralHolders(t *testing.T) {
	f := historyOf(t, `
0    main threadStart
0    reader-1 threadStart
0    reader-2 threadStart
0    writer-1 threadStart
0    writer-2 threadStart
0    client-1 threadStart
0    client-2 threadStart
0    client-3 threadStart
0    client-4 threadStart
5    reader-2 sleepStart stack=2
10   writer-1 park lock=java.util.concurrent.locks.ReentrantReadWriteLock$NonfairSync owner=reader-1 stack=3
20   client-1 park lock=java.util.concurrent.SynchronousQueue stack=4
21   client-2 park lock=java.util.concurrent.SynchronousQueue stack=4
22   client-3 park lock=java.util.concurrent.SynchronousQueue stack=4
30   main unpark target=client-2
31   client-2 unparked
32   client-2 sleepStart stack=5
40   main unpark target=client-1
41   client-1 unparked
42   client-1 sleepStart stack=5
45   writer-2 park lock=java.util.concurrent.locks.ReentrantReadWriteLock$NonfairSync owner=reader-2 stack=3
51   client-4 park lock=java.util.concurrent.SynchronousQueue stack=4
60   client-2 sleepEnd
70   client-1 sleepEnd
71   client-2 unpark target=client-3
72   client-3 unparked
75   client-1 unpark target=client-4
76   client-4 unparked
90   main yield
`, time.Second)
	writer := func(n, since, length int, doing, holder string) string {
		return fmt.Sprintf("writer-%d blocked lock since %d for %d, object ReentrantReadWriteLock, in com.acme.Prices.set, "+
			"at Prices.java:9, doing %s, held by %s", n, since, length, doing, holder)
	}
	client := func(n, since, length int, doing, holder string) string {
		return fmt.Sprintf("client-%d blocked pool since %d for %d, object HikariPool, in com.acme.Shop.pay, at Shop.java:31, "+
			"doing %s, held by %s", n, since, length, doing, holder)
	}
	for at, want := range map[int][]string{
		11: {writer(1, 10, 1, "runnable", "reader-1")},
		55: {
			writer(1, 10, 45, "asleep in Report.write", "reader-2"), client(3, 22, 33, "asleep in Shop.query", "client-2"),
			writer(2, 45, 10, "asleep in Report.write", "reader-2"), client(4, 51, 4, "asleep in Shop.query", "client-2"),
		},
		65: {
			writer(1, 10, 55, "asleep in Report.write", "reader-2"), client(3, 22, 43, "runnable", "client-2"),
			writer(2, 45, 20, "asleep in Report.write", "reader-2"), client(4, 51, 14, "runnable", "client-2"),
		},
		71: {
			writer(1, 10, 61, "asleep in Report.write", "reader-2"), client(3, 22, 49, "runnable", "client-1"),
			writer(2, 45, 26, "asleep in Report.write", "reader-2"), client(4, 51, 20, "runnable", "client-1"),
		},
	} {
		w := ask[viewapi.Waiting](f, fmt.Sprintf("/waiting?at=%d&state=blocked", at))
		assert.Equal(t, want, rows(&w), at)
	}
}

// Threads in a deadlock come with the others that are blocked, and name the deadlock of the session.
func TestWaitingInADeadlock(t *testing.T) {
	text := fmt.Sprintf(`
0    left threadStart
0    right threadStart
0    visitor threadStart
0    other threadStart
100  left contendedEnter lock=com.acme.Right owner=right stack=7
200  right contendedEnter lock=com.acme.Left owner=left stack=7
300  visitor contendedEnter lock=com.acme.Left owner=left stack=1
%d  other yield
%d  other yield
`, 400+2*deadlock.Grace, 500+3*deadlock.Grace)
	f := historyOf(t, text, 700*time.Millisecond)
	found := ask[viewapi.Session](f, "").Deadlocks
	require.Len(t, found, 1)
	w := ask[viewapi.Waiting](f, "/waiting")
	require.Len(t, w.Rows, 3)
	assert.Equal(t, 3, w.Blocked)
	for i, want := range []struct {
		name, object, holder, doing, deadlock string
		since                                 int64
		state                                 jvmthread.State
	}{
		{"left", "Right", "right", "deadlocked at Left in Account.settle", found[0].ID, 100, jvmthread.StateDeadlocked},
		{"right", "Left", "left", "deadlocked at Right in Account.settle", found[0].ID, 200, jvmthread.StateDeadlocked},
		{"visitor", "Book.lock", "left", "deadlocked at Right in Account.settle", "", 300, jvmthread.StateBlocked},
	} {
		r := w.Rows[i]
		require.NotNil(t, r.Holder, want.name)
		assert.Equal(t, []string{want.name, want.object, want.holder, want.doing, want.deadlock},
			[]string{r.Thread.Name, r.Object, r.Holder.Name, r.Doing, r.Deadlock})
		assert.Equal(t, []int64{want.since, w.At - want.since, int64(want.state)}, []int64{r.Since, r.Time, int64(r.State)})
	}
}

// At any moment, the threads that wait are those whose interval says so, and each is listed once however the list is cut into pages.
func TestWaitingMatchesIntervals(t *testing.T) {
	for seed := range uint64(4) {
		f := newFixture(t, seed, 10, 4, 1500, 700)
		s := ask[viewapi.Session](f, "")
		for at := s.From; at < s.To; at += (s.To-s.From)/23 + 1 {
			want := map[uint64]viewapi.Interval{}
			for _, th := range ask[viewapi.Threads](f, "/threads").Threads {
				status, _ := f.get(fmt.Sprintf("sessions/%s/interval?thread=%d&at=%d", sessionID, th.ID, at))
				if status != http.StatusOK {
					continue
				}
				if iv := ask[viewapi.Interval](f, fmt.Sprintf("/interval?thread=%d&at=%d", th.ID, at)); jvmthread.State(iv.State).Stopped() {
					want[th.ID] = iv
				}
			}
			all := ask[viewapi.Waiting](f, fmt.Sprintf("/waiting?idle=true&at=%d", at))
			require.Len(t, all.Rows, len(want))
			var paged []viewapi.WaitingRow
			for offset := 0; offset < all.Total; offset += 3 {
				paged = append(paged, ask[viewapi.Waiting](f, fmt.Sprintf("/waiting?idle=true&limit=3&at=%d&offset=%d", at, offset)).Rows...)
			}
			require.Equal(t, all.Rows, append([]viewapi.WaitingRow{}, paged...))
			for _, r := range all.Rows {
				iv := want[r.Thread.ID]
				assert.Equal(t, iv.Wait, r.Wait)
				assert.LessOrEqual(t, iv.From, at)
				assert.Equal(t, iv.From, r.Since)
				if r.Holder != nil {
					assert.NotEqual(t, r.Thread.ID, r.Holder.ID)
				}
			}
		}
	}
}

func TestWaitingRefusesWhatIsOfRanges(t *testing.T) {
	f := historyOf(t, chained, time.Second)
	status, body := f.get("sessions/" + sessionID.String() + "/waiting?hide=idle")
	assert.Equal(t, http.StatusBadRequest, status)
	assert.Contains(t, string(body), "idle=false")
}
