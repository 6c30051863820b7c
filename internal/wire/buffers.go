// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"math/bits"
	"sync"
)

// buffers has the buffers that no reader uses, by the logarithm of their size. Readers with a Source share them: most of the time, most
// agents send nothing.
//
//nolint:gochecknoglobals // a cache
var buffers [bits.UintSize]sync.Pool

// sizeFor returns the size of a buffer for n bytes.
func sizeFor(n int) int { return max(readBuffer, 1<<bits.Len(uint(max(n, 1)-1))) }

// resize makes room for n bytes, with memory that is new if necessary.
func (r *Reader) resize(n int) error {
	if n <= cap(r.buf) {
		return nil
	}
	size := sizeFor(n)
	if r.source != nil {
		if err := r.source.Room(cap(r.buf), size); err != nil {
			return err
		}
	}
	fresh := append(make([]byte, 0, size), r.buf...)
	r.recycle()
	r.buf = fresh
	return nil
}

// lend makes room for n bytes if there is a buffer of that size that no reader uses.
func (r *Reader) lend(n int) bool {
	size := sizeFor(n)
	if r.source == nil || size <= readBuffer || n <= cap(r.buf) {
		return false
	}
	box, ok := buffers[bits.Len(uint(size))].Get().(*[]byte)
	if !ok {
		return false
	}
	if !r.source.TryRoom(cap(r.buf), size) {
		buffers[bits.Len(uint(size))].Put(box)
		return false // fill asks again for less
	}
	r.recycle()
	r.buf, r.lent = *box, box
	return true
}

// Release frees the buffer of the last frame.
func (r *Reader) Release() {
	if r.source != nil && cap(r.buf) > 0 {
		_ = r.source.Room(cap(r.buf), 0) // giving back never fails
	}
	r.recycle()
}

// recycle lets other readers use the buffer.
func (r *Reader) recycle() {
	if r.source != nil && cap(r.buf) > readBuffer {
		box := r.lent
		if box == nil {
			box = new([]byte)
		}
		*box = r.buf[:0]
		buffers[bits.Len(uint(cap(r.buf)))].Put(box)
	}
	r.buf, r.lent = nil, nil
}
