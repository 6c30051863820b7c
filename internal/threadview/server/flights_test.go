// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/failure"
)

// Equal requests that come while the first is computed, and after it, get its answer.
func TestEqualRequestsShareOneComputation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fs flights
		computed, release := 0, make(chan struct{})
		compute := func(context.Context) ([]byte, *Problem) { //nolint:unparam // as do takes it
			computed++
			<-release
			return []byte("answer"), nil
		}
		ask := func() {
			body, p := fs.do(t.Context(), "key", compute)
			assert.Nil(t, p)
			assert.Equal(t, "answer", string(body))
		}
		var all sync.WaitGroup
		for range 60 {
			all.Go(ask)
		}
		synctest.Wait()
		close(release)
		all.Wait()
		ask()
		assert.Equal(t, 1, computed)
	})
}

// A client that goes away does not take the answer from others; when the last one has gone, the computation is cancelled.
func TestCancelledRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fs flights
		cancelled := false
		compute := func(ctx context.Context) ([]byte, *Problem) { //nolint:unparam // as do takes it
			<-ctx.Done()
			cancelled = true
			return nil, problem(http.StatusServiceUnavailable, "cancelled")
		}
		first, leaveFirst := context.WithCancel(t.Context())
		second, leaveSecond := context.WithCancel(t.Context())
		for _, ctx := range []context.Context{first, second} {
			go func() {
				_, p := fs.do(ctx, "key", compute)
				assert.Equal(t, http.StatusServiceUnavailable, p.Status)
			}()
			synctest.Wait()
		}
		leaveFirst()
		synctest.Wait()
		assert.False(t, cancelled)
		leaveSecond()
		synctest.Wait()
		assert.True(t, cancelled)
		body, p := fs.do(t.Context(), "key", func(context.Context) ([]byte, *Problem) { return []byte("new"), nil })
		assert.Nil(t, p)
		assert.Equal(t, "new", string(body), "an error is not remembered")
	})
}

func TestRememberedAnswersAreBounded(t *testing.T) {
	var fs flights
	answer := make([]byte, maxAnswer)
	for i := range 100 {
		_, p := fs.do(t.Context(), strconv.Itoa(i), func(context.Context) ([]byte, *Problem) { return answer, nil })
		assert.Nil(t, p)
		assert.LessOrEqual(t, fs.bytes, recentBytes)
	}
	assert.Greater(t, fs.bytes, recentBytes-2*maxAnswer)
	assert.Empty(t, fs.running)
}

// A defect in a computation costs one response.
func TestPanicOfAComputation(t *testing.T) {
	failure.ContainIn(t)
	logged := ""
	fs := flights{log: func(_ string, err error) { logged = err.Error() }}
	_, p := fs.do(t.Context(), "key", func(context.Context) ([]byte, *Problem) { panic("bug") })
	assert.Equal(t, http.StatusInternalServerError, p.Status)
	assert.Contains(t, logged, "panic: bug (flights_test.go:")
	assert.Contains(t, p.Message, "panic: bug (flights_test.go:")
}
