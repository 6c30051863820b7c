// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package definitions

import "github.com/weft-otel/weft/internal/jvmthread/symbols"

// Sizes in bytes, with the overhead of maps and of the allocator.
const (
	perID     = 4
	perMethod = 160
	rounding  = 16 // of a text
)

// Held estimates the memory of the table in bytes.
func (d *Table) Held() int {
	return d.Symbols.Held() + d.described.size() + perID*(cap(d.classes)+cap(d.stacks)) + d.methodText + perMethod*len(d.methods)
}

// Release removes all that the table holds, and gives it back. The table may still be used.
func (d *Table) Release() {
	d.budget.Give(d.taken)
	*d = *New(symbols.New(symbols.DefaultLimits()))
}

// take takes what an operation may need at most. The operation must settle then.
func (d *Table) take(need int) bool {
	if !d.budget.Take(need) {
		return false
	}
	d.taken += need
	return true
}

// settle makes the budget equal to what the table holds.
func (d *Table) settle() {
	held := d.Held()
	if held > d.taken {
		d.budget.Force(held - d.taken) // an estimate was too low
	} else {
		d.budget.Give(d.taken - held)
	}
	d.taken = held
}

// put sets an element and extends the list as needed.
func put[T any](list []T, i int, v T) []T {
	list = grow(list, i+1)
	list[i] = v
	return list
}

// grow returns a list of at least n elements.
func grow[T any](list []T, n int) []T {
	switch {
	case n <= len(list):
		return list
	case n <= cap(list):
		return list[:n]
	}
	longer := make([]T, n, cap(list)+growth(list, n))
	copy(longer, list)
	return longer
}

// growth returns the elements for which grow allocates additional memory.
func growth[T any](list []T, n int) int {
	if n <= cap(list) {
		return 0
	}
	return max(n, cap(list)+cap(list)/4, 16) - cap(list)
}
