// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stored

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// The form of the files of bbolt, in which file_storage keeps its data: pages with a header, two of them with the state of the database. bbolt
// itself cannot be asked: it panics in goroutines of its own, and maps the file, so that a part that is missing ends the process.
const (
	magic       = 0xed0cdaed
	formVersion = 2

	headerSize  = 16 // of a page: ID, flags, count, overflow
	elementSize = 16 // of its elements, which follow
	metaSize    = 64

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

// check reports damage that makes bbolt panic or refuse the file. It does not read values.
func check(file *os.File) error {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 { // bbolt fills an empty file
		return err
	}
	b, err := open(file)
	if err != nil {
		return err
	}
	b.size = uint64(info.Size())
	if err := b.walk(b.root); err != nil || b.freelist == noFreelist {
		return err
	}
	return b.free()
}

// open reads the newer one of the two states that is valid.
func open(file io.ReaderAt) (*bolt, error) {
	var b *bolt
	newest := uint64(0)
	for _, at := range []uint64{0, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16} { // the second one is at the size of a page
		meta := make([]byte, metaSize)
		if n, err := file.ReadAt(meta, int64(at+headerSize)); n < len(meta) {
			if errors.Is(err, io.EOF) {
				break
			}
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
	if _, err := b.file.ReadAt(header, int64(id*b.pageSize)); err != nil {
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
	if _, err := b.file.ReadAt(data, int64(id*b.pageSize)); err != nil {
		return 0, nil, fmt.Errorf("page %d: %w", id, err)
	}
	return kind, data, nil
}

// walk checks a page of a tree, and those below it.
func (b *bolt) walk(id uint64) error {
	kind, data, err := b.page(id, isBranch, isLeaf)
	if err != nil {
		return err
	}
	size := b.pageSize * (uint64(binary.NativeEndian.Uint32(data[12:])) + 1)
	for at := uint64(headerSize); at < uint64(len(data)); at += elementSize {
		e := data[at : at+elementSize]
		if kind == isBranch {
			if end := at + uint64(binary.NativeEndian.Uint32(e)) + uint64(binary.NativeEndian.Uint32(e[4:])); end > size {
				return fmt.Errorf("page %d: a key ends at byte %d of %d", id, end, size)
			}
			if err := b.walk(binary.NativeEndian.Uint64(e[8:])); err != nil {
				return err
			}
			continue
		}
		value := at + uint64(binary.NativeEndian.Uint32(e[4:])) + uint64(binary.NativeEndian.Uint32(e[8:]))
		length := uint64(binary.NativeEndian.Uint32(e[12:]))
		if value+length > size {
			return fmt.Errorf("page %d: a value ends at byte %d of %d", id, value+length, size)
		}
		if binary.NativeEndian.Uint32(e)&isBucket == 0 {
			continue
		}
		if length < 16 {
			return fmt.Errorf("page %d: a bucket of %d bytes", id, length)
		}
		root := make([]byte, 8)
		if _, err := b.file.ReadAt(root, int64(id*b.pageSize+value)); err != nil {
			return fmt.Errorf("page %d: %w", id, err)
		}
		if child := binary.NativeEndian.Uint64(root); child != 0 { // 0: the bucket is in the value
			if err := b.walk(child); err != nil {
				return err
			}
		}
	}
	return nil
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
