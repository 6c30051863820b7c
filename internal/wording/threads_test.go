// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wording_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

func TestPluralsOfThreads(t *testing.T) {
	for name, want := range map[string]string{
		"matcher-*": "3 matchers", "orders-*": "3 orders", "pricing-*": "3 pricing threads", "search-*": "3 search threads", "delivery-*": "3 delivery threads",
		"http-nio-8080-exec-*": "3 http-nio-8080-exec threads", "io-*": "3 io threads", "Thread-*": "3 threads", "main": "3 main threads",
	} {
		assert.Equal(t, want, wording.Threads([]viewapi.ThreadGroup{{Name: name, Threads: 3}}, 3, 0), name)
	}
}
