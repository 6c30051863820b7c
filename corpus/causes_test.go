// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"context"
	"regexp"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
	"github.com/weft-otel/weft/internal/page"
)

// causesTruth is what Causes.java knows: for how long requests waited, if that ended, collections took, and the owner of a lock read, in
// nanoseconds.
type causesTruth struct{ Waited, Collected, Read int64 }

// looks is the distance between the agent's looks at threads in system calls.
const looks = 10 * time.Millisecond

// causesLength is for how long Causes.java runs at least.
const causesLength = 300 * time.Millisecond

// checkCause checks the first sentence about waits for what other threads bring about, without numbers. As many waits did not end; if there are any,
// none else was.
func checkCause(sentence string, open int) func(t spantest.T, r *run) {
	return checkOpen(sentence, open, open > 0)
}

// checkStuck checks the same of waits that no thread can end any more.
func checkStuck(sentence string, stuck int, only bool) func(t spantest.T, r *run) {
	check := checkOpen(sentence, stuck, only)
	return func(t spantest.T, r *run) {
		t.Helper()
		check(t, r)
		answer, err := page.Of(r.played.page).Answer(context.Background(), r.sessionOnPage(t), nil)
		require.NoError(t, err)
		assert.Equal(t, stuck, answer.Most.Stuck)
	}
}

func checkOpen(sentence string, open int, only bool) func(t spantest.T, r *run) {
	return func(t spantest.T, r *run) {
		t.Helper()
		var truth causesTruth
		r.know(t, &truth)
		assert.Regexp(t, "^"+sentence, headline(t, r))
		answer, err := page.Of(r.played.page).Answer(context.Background(), r.sessionOnPage(t), nil)
		require.NoError(t, err)
		require.NotNil(t, answer.Most)
		assert.Equal(t, open, answer.Most.Open)
		if open == 0 {
			accountedFor(t, truth.Waited, answer.Most.Time, "waits")
			assert.Zero(t, answer.Most.Pending)
			return
		}
		assert.Equal(t, only, answer.Most.Time == answer.Most.Pending)
		assert.GreaterOrEqual(t, answer.Most.Pending, int64(causesLength)*int64(open)/2)
	}
}

// checkCollection checks what is said of a thread that holds a monitor while collections stop the JVM. The JVM knows in milliseconds how long each
// collection took, which includes more than the pause.
func checkCollection(lock string) func(t spantest.T, r *run) {
	return func(t spantest.T, r *run) {
		t.Helper()
		var truth causesTruth
		r.know(t, &truth)
		assert.Regexp(t, `compactor-1 held `+lock+` for \S+ m?s, mostly stopped for garbage collection; 2 requests waited \S+ m?s for it\.`, headline(t, r))
		answer, err := page.Of(r.played.page).Answer(context.Background(), r.sessionOnPage(t), nil)
		require.NoError(t, err)
		require.NotNil(t, answer.Most)
		accountedFor(t, truth.Waited, answer.Most.Time, "waits")
		accountedFor(t, truth.Collected+int64(answer.Pauses.Count)*int64(time.Millisecond), answer.Pauses.Time, "collections")
	}
}

// checkSocket checks what is said of a thread that holds a monitor while it reads from a socket. The agent knows when a read begins and ends
// from looks at a distance.
func checkSocket(lock string, distance time.Duration) func(t spantest.T, r *run) {
	sentence := regexp.MustCompile(`^refresher-1 spent (\d+ ms) reading from 127\.0\.0\.1:\d+ in Causes\.refresh holding ` + lock +
		`; 2 requests waited \S+ m?s for it\.`)
	return func(t spantest.T, r *run) {
		t.Helper()
		var truth causesTruth
		r.know(t, &truth)
		said := sentence.FindStringSubmatch(headline(t, r))
		require.NotNil(t, said, headline(t, r))
		read, err := time.ParseDuration(strings.ReplaceAll(said[1], " ", ""))
		require.NoError(t, err)
		accountedFor(t, truth.Read+int64(distance), int64(read-time.Millisecond/2), "reading") // it is rounded
		answer, err := page.Of(r.played.page).Answer(context.Background(), r.sessionOnPage(t), nil)
		require.NoError(t, err)
		require.NotNil(t, answer.Most)
		accountedFor(t, truth.Waited, answer.Most.Time, "waits")
	}
}
