// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package spantest

import (
	"math"
	"time"

	"github.com/stretchr/testify/assert"
)

// Clocks compares times of a program with those of its observer. Their wall clocks may differ, by as long as a thread was preempted between
// two readings, and may drift: the flight recorder counts ticks and relies on the processor's frequency. All comparisons must hold for one
// common difference.
type Clocks struct {
	began           int64 // first reading of the program's clock
	least, most     int64 // bounds of the difference: program's clock minus observer's
	atLeast, atMost string
}

// NewClocks begins a comparison. The program read its clock first at began.
func NewClocks(began int64) *Clocks {
	return &Clocks{began: began, least: math.MinInt64, most: math.MaxInt64}
}

// tolerance grows with time by the possible drift; some recordings round to microseconds.
func (c *Clocks) tolerance(program int64) int64 { return Microsecond + (program-c.began)/1000 }

// NotBefore asserts that an observation happened when the program read its clock, or later.
func (c *Clocks) NotBefore(what string, program, watched int64) {
	if ahead := program - watched - c.tolerance(program); ahead > c.least {
		c.least, c.atLeast = ahead, what
	}
}

// NotAfter asserts that an observation had happened when the program read its clock.
func (c *Clocks) NotAfter(what string, program, watched int64) {
	if ahead := program - watched + c.tolerance(program); ahead < c.most {
		c.most, c.atMost = ahead, what
	}
}

// Check asserts that one difference of the clocks explains all.
func (c *Clocks) Check(t T) {
	t.Helper()
	assert.LessOrEqual(t, c.least, c.most, "the program's clock is ahead by %d ns or more, as %s, and by %d ns or less, as %s", c.least, c.atLeast, c.most, c.atMost)
	const hour = int64(time.Hour)
	assert.True(t, -hour < c.most && c.least < hour, "times are those of the wall clock: the program's is ahead by %d to %d ns", c.least, c.most)
}
