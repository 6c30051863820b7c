// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestThreadsAreNamedAsPeopleDo(t *testing.T) {
	for names, want := range map[string]string{
		"report":                                    "report",
		"matcher-1,matcher-2,matcher-30":            "3 matchers",
		"workers-1,workers-2":                       "2 workers",
		"Thread-0,Thread-12":                        "2 threads",
		"http-nio-8080-exec-3,http-nio-8080-exec-4": "2 http-nio-8080-exec threads",
		"pool-1-thread-1,pool-2-thread-1":           "2 pool-*-thread threads",
		"settle-alpine,settle-alpine":               "2 settle-alpine threads",
		"matcher-1,matcher-2,report":                "2 matchers and report",
		"x-1,x-2,x-3,b,c":                           "3 xs and 2 others",
		"a,b,c,d,e,b1,c1,a1,d1":                     "9 threads",
		"1,2":                                       "2 threads",
	} {
		var waiters []waiter
		for i, name := range strings.Split(names, ",") {
			waiters = append(waiters, waiter{name, time.Duration(100 - i)})
		}
		assert.Equal(t, want, threadsOf(waiters))
	}
	assert.Equal(t, "http-nio-8080-exec-3, -7, main and 2 more",
		listed([]string{"http-nio-8080-exec-3", "http-nio-8080-exec-7", "main", "x", "y"}))
}
