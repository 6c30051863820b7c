// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

// Each cause says which requests waited for it, and when, to the nanosecond, whatever the windows. The first one is that of the answer.
func TestCausesOfRequests(t *testing.T) {
	for _, window := range []time.Duration{7 * time.Millisecond, time.Second} {
		f, truth := shop(t, 300, window)
		list := ask[viewapi.Causes](f, "/causes")
		require.NotEmpty(t, list.Causes)
		answer := ask[viewapi.Answer](f, "/answer")
		assert.True(t, strings.HasPrefix(wording.Plain(answer.Text), wording.Plain(list.Causes[0].Text)))
		assert.Equal(t, answer.Most.Time, list.Causes[0].Time)
		for i := range list.Causes {
			cause, routes := &list.Causes[i], map[string]int64{}
			for _, r := range truth {
				for _, w := range r.Waits {
					if w.Wait.String() == cause.Kind {
						routes[r.Name] += int64(w.To - w.From)
					}
				}
			}
			got, sum := map[string]int64{}, int64(0)
			for _, route := range cause.Routes {
				got[route.Name] = route.Time
			}
			for _, time := range cause.Trend {
				sum += time
			}
			assert.Equal(t, routes, got, cause.Name)
			assert.Equal(t, cause.Time, sum, cause.Name)
			if i > 0 {
				assert.LessOrEqual(t, cause.Time, list.Causes[i-1].Time)
			}
		}
	}
}
