// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestByKey(t *testing.T) {
	var m byKey[int]
	keys := []int64{0, 3, 1, smallKeys - 1, smallKeys, -1, 1 << 62}
	for i, key := range keys {
		_, known := m.get(key)
		assert.False(t, known, key)
		m.set(key, i)
	}
	for i, key := range keys {
		value, known := m.get(key)
		assert.True(t, known, key)
		assert.Equal(t, i, value)
	}
	assert.Len(t, m.large, 3)
}
