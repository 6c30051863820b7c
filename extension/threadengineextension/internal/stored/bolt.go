// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stored

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

// The form of the files of bbolt, in which file_storage keeps its data: pages with a header, two of them with the state of the database. bbolt
// itself cannot be asked: it panics in goroutines of its own, and maps the file, so that a part that is missing ends the process.
const (
	magic       = 0xed0cdaed
	formVersion = 2

	headerSize  = 16 // of a page: ID, flags, count, overflow
	elementSize = 16 // of its elements, which follow
	metaSize    = 64
	bucketSize  = 16 // page of the root, 0 if that follows; sequence

	isBranch   = 0x01
	isLeaf     = 0x02
	isFreelist = 0x10
	isBucket   = 0x01 // flag of an element of a leaf

	noFreelist = ^uint64(0)
)

// bolt is a database. Its numbers have the order of bytes of the machine.
type bolt struct {
	file     io.ReaderAt
	size     uint64 // of the file, which may lack free pages
	pageSize uint64
	pages    uint64
	root     uint64
	freelist uint64
	used     map[uint64]bool
}

// check returns damage that makes bbolt panic or refuse the file, or why the file cannot be read. It reads no values but those of buckets.
func check(file io.ReaderAt, size int64) (damage, err error) {
	if size == 0 {
		return nil, nil // bbolt fills an empty file
	}
	b, err := open(file)
	if err == nil {
		b.size = uint64(size)
		_, err = b.walk(b.root, nil, nil)
	}
	if err == nil && b.freelist != noFreelist {
		err = b.free()
	}
	if errors.As(err, new(unreadable)) {
		return nil, err
	}
	return err, nil
}

// unreadable is the error of a disk, not of the file: it may be intact.
type unreadable struct{ error }

func (u unreadable) Unwrap() error { return u.error }

// readAt fills data. A file that ends before is damaged.
func readAt(file io.ReaderAt, data []byte, at uint64) error {
	n, err := file.ReadAt(data, int64(at))
	switch {
	case n == len(data):
		return nil
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	}
	return unreadable{err}
}

// open reads the newer one of the two states that is valid.
func open(file io.ReaderAt) (*bolt, error) {
	var b *bolt
	newest := uint64(0)
	for _, at := range []uint64{0, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16} { // the second one is at the size of a page
		meta := make([]byte, metaSize)
		if err := readAt(file, meta, at+headerSize); errors.Is(err, io.ErrUnexpectedEOF) {
			break
		} else if err != nil {
			return nil, err
		}
		sum := fnv.New64a()
		_, _ = sum.Write(meta[:metaSize-8])
		pageSize, txid := uint64(binary.NativeEndian.Uint32(meta[8:])), binary.NativeEndian.Uint64(meta[48:])
		valid := binary.NativeEndian.Uint32(meta) == magic && binary.NativeEndian.Uint32(meta[4:]) == formVersion && binary.NativeEndian.Uint64(meta[56:]) == sum.Sum64()
		if !valid || pageSize < 1<<10 || at != 0 && at != pageSize || b != nil && txid < newest {
			continue
		}
		newest = txid
		b = &bolt{
			file: file, pageSize: pageSize, root: binary.NativeEndian.Uint64(meta[16:]), freelist: binary.NativeEndian.Uint64(meta[32:]), pages: binary.NativeEndian.Uint64(meta[40:]), used: map[uint64]bool{},
		}
	}
	if b == nil {
		return nil, errors.New("neither of its two states is valid")
	}
	return b, nil
}

// page reads a page, which must be one of the given kinds and have no other use.
func (b *bolt) page(id uint64, kinds ...uint16) (kind uint16, data []byte, err error) {
	if id < 2 || id >= b.pages {
		return 0, nil, fmt.Errorf("page %d: out of range", id)
	}
	header := make([]byte, headerSize)
	if err := readAt(b.file, header, id*b.pageSize); err != nil {
		return 0, nil, fmt.Errorf("page %d: %w", id, err)
	}
	kind, count, overflow := binary.NativeEndian.Uint16(header[8:]), uint64(binary.NativeEndian.Uint16(header[10:])), uint64(binary.NativeEndian.Uint32(header[12:]))
	known := false
	for _, one := range kinds {
		known = known || kind == one
	}
	if is := binary.NativeEndian.Uint64(header); is != id || !known {
		return 0, nil, fmt.Errorf("page %d: it is page %d of kind %#x", id, is, kind)
	}
	if id+overflow >= b.pages {
		return 0, nil, fmt.Errorf("page %d: it continues on %d others, out of range", id, overflow)
	}
	if end := (id + overflow + 1) * b.pageSize; end > b.size {
		return 0, nil, fmt.Errorf("page %d: it ends at byte %d of %d", id, end, b.size)
	}
	for one := id; one <= id+overflow; one++ {
		if b.used[one] {
			return 0, nil, fmt.Errorf("page %d: it is used twice", one)
		}
		b.used[one] = true
	}
	size := count * elementSize
	if kind == isFreelist { // IDs of pages; the first one is their number if that is too large for the header
		size = b.pageSize*(overflow+1) - headerSize
	}
	if headerSize+size > b.pageSize*(overflow+1) {
		return 0, nil, fmt.Errorf("page %d: %d elements", id, count)
	}
	data = make([]byte, headerSize+size)
	if err := readAt(b.file, data, id*b.pageSize); err != nil {
		return 0, nil, fmt.Errorf("page %d: %w", id, err)
	}
	return kind, data, nil
}

// walk checks a page of a tree, and those below it, and returns the last key. Keys are in order, from least to those below a limit; nil: none.
func (b *bolt) walk(id uint64, least, limit []byte) (last []byte, err error) {
	kind, data, err := b.page(id, isBranch, isLeaf)
	if err != nil {
		return nil, err
	}
	keys, err := b.keys(id, kind, data)
	if err != nil {
		return nil, err
	}
	last = least
	for i, key := range keys {
		if order := bytes.Compare(last, key); order > 0 && last != nil || order >= 0 && i > 0 || limit != nil && bytes.Compare(key, limit) >= 0 {
			return nil, fmt.Errorf("page %d: key %d is not in order", id, i)
		}
		last = key
		e := data[headerSize+elementSize*i:][:elementSize]
		if kind == isLeaf {
			if err := b.bucket(id, uint64(headerSize+elementSize*i), e); err != nil {
				return nil, err
			}
			continue
		}
		next := limit
		if i+1 < len(keys) {
			next = keys[i+1]
		}
		if last, err = b.walk(binary.NativeEndian.Uint64(e[8:]), key, next); err != nil {
			return nil, err
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	return last, nil
}

// keys reads the keys of a page with branches or leaves.
func (b *bolt) keys(id uint64, kind uint16, data []byte) (keys [][]byte, err error) {
	size := b.pageSize * (uint64(binary.NativeEndian.Uint32(data[12:])) + 1)
	for at := uint64(headerSize); at < uint64(len(data)); at += elementSize {
		e := data[at : at+elementSize]
		from, length, value := at, uint64(0), uint64(0)
		if kind == isBranch {
			from, length = from+uint64(binary.NativeEndian.Uint32(e)), uint64(binary.NativeEndian.Uint32(e[4:]))
		} else {
			from, length = from+uint64(binary.NativeEndian.Uint32(e[4:])), uint64(binary.NativeEndian.Uint32(e[8:]))
			value = uint64(binary.NativeEndian.Uint32(e[12:]))
		}
		if end := from + length + value; end > size {
			return nil, fmt.Errorf("page %d: an element ends at byte %d of %d", id, end, size)
		}
		key := make([]byte, length)
		if err := readAt(b.file, key, id*b.pageSize+from); err != nil {
			return nil, fmt.Errorf("page %d: %w", id, err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// bucket checks the bucket that an element of a leaf may have.
func (b *bolt) bucket(id, at uint64, e []byte) error {
	if binary.NativeEndian.Uint32(e)&isBucket == 0 {
		return nil
	}
	value, length := at+uint64(binary.NativeEndian.Uint32(e[4:]))+uint64(binary.NativeEndian.Uint32(e[8:])), binary.NativeEndian.Uint32(e[12:])
	if length < bucketSize {
		return fmt.Errorf("page %d: a bucket of %d bytes", id, length)
	}
	content := make([]byte, length)
	if err := readAt(b.file, content, id*b.pageSize+value); err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	if child := binary.NativeEndian.Uint64(content); child != 0 {
		_, err := b.walk(child, nil, nil)
		return err
	}
	if !isInline(content[bucketSize:]) {
		return fmt.Errorf("page %d: the bucket has no page", id)
	}
	return nil
}

// isInline reports whether the rest of a bucket is a page with leaves, as small buckets have.
func isInline(page []byte) bool {
	if len(page) < headerSize || binary.NativeEndian.Uint16(page[8:]) != isLeaf {
		return false
	}
	count := int(binary.NativeEndian.Uint16(page[10:]))
	if headerSize+count*elementSize > len(page) {
		return false
	}
	for at := headerSize; at < headerSize+count*elementSize; at += elementSize {
		e := page[at:]
		end := uint64(at) + uint64(binary.NativeEndian.Uint32(e[4:])) + uint64(binary.NativeEndian.Uint32(e[8:])) + uint64(binary.NativeEndian.Uint32(e[12:]))
		if end > uint64(len(page)) || binary.NativeEndian.Uint32(e)&isBucket != 0 {
			return false
		}
	}
	return true
}

// free checks the list of free pages.
func (b *bolt) free() error {
	_, data, err := b.page(b.freelist, isFreelist)
	if err != nil {
		return err
	}
	count, ids := uint64(binary.NativeEndian.Uint16(data[10:])), data[headerSize:]
	if count == 0xffff && len(ids) >= 8 {
		count, ids = binary.NativeEndian.Uint64(ids), ids[8:]
	}
	if count > uint64(len(ids)/8) {
		return fmt.Errorf("page %d: a list of %d free pages", b.freelist, count)
	}
	for i := range count {
		if id := binary.NativeEndian.Uint64(ids[8*i:]); id < 2 || id >= b.pages || b.used[id] {
			return fmt.Errorf("page %d: page %d is not free", b.freelist, id)
		}
	}
	return nil
}
