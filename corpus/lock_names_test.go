// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/corpus/spantest"
)

// checkLockNames checks threads that are named after the locks that they wait for, as "case: name", or "case:" if the source has no name.
func checkLockNames(t spantest.T, r *run) {
	t.Helper()
	var truth struct {
		Cases int `json:"cases"`
	}
	r.know(t, &truth)
	names, locks := map[string][]string{}, map[string]string{}
	for _, s := range r.Of(r.service, (*spantest.Span).IsState) {
		thread, name, class := s.Text("thread.name"), s.Text("weft.lock.name"), s.Text("weft.lock.class")
		waits := slices.Contains([]string{"blocked", "parked", "waiting"}, s.Text("weft.state"))
		if !waits || class == "[I" || !strings.Contains(thread, ":") { // threads contend to initialize a class
			continue
		}
		locks[thread] = class
		if !slices.Contains(names[thread], name) {
			names[thread] = append(names[thread], name)
		}
	}
	assert.Len(t, names, truth.Cases, "threads that waited")
	for thread, got := range names {
		_, want, _ := strings.Cut(thread, ":")
		assert.Equal(t, []string{strings.TrimPrefix(want, " ")}, got, thread)
	}
	for _, thread := range []string{"class:", "static method:"} {
		assert.Equal(t, "java.lang.Class<LockNames>", locks[thread], thread)
	}
}
