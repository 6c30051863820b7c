// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stored

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// fill changes a database at random, as its own options say or those of file_storage.
func fill(t *testing.T, path string, random *rand.Rand, options bbolt.Options) {
	t.Helper()
	options.NoSync = true
	db, err := bbolt.Open(path, 0o600, &options)
	require.NoError(t, err)
	for range 4 {
		require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists([]byte("default"))
			if err != nil {
				return err
			}
			if _, err := bucket.CreateBucketIfNotExists([]byte("inner")); err != nil {
				return err
			}
			for range 150 {
				key := fmt.Appendf(nil, "%04d", random.IntN(600))
				if random.IntN(3) == 0 {
					err = bucket.Delete(key)
				} else {
					err = bucket.Put(key, make([]byte, random.IntN(3)*random.IntN(6000)))
				}
				if err != nil {
					return err
				}
			}
			return nil
		}))
	}
	require.NoError(t, db.Close())
}

func checked(t *testing.T, path string) error {
	t.Helper()
	damage, err := read(path)
	require.NoError(t, err)
	return damage
}

// use does what panics if a file is damaged: it opens the file, reads all of it and writes to it.
func use(t *testing.T, path string, content []byte, options bbolt.Options) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, content, 0o600))
	options.NoSync = true
	db, err := bbolt.Open(path, 0o600, &options)
	require.NoError(t, err)
	sum := 0
	require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
		if err := tx.ForEach(func(_ []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(k, v []byte) error {
				sum += bytes.Count(k, []byte{1}) + bytes.Count(v, []byte{1})
				return nil
			})
		}); err != nil {
			return err
		}
		bucket, err := tx.CreateBucketIfNotExists([]byte("other"))
		if err != nil {
			return err
		}
		return bucket.Put([]byte("key"), make([]byte, 30_000))
	}))
	require.NoError(t, db.Close())
}

// usesFrom reports whether a page or a later one is in use.
func (b *bolt) usesFrom(id uint64) bool {
	for ; id < b.pages; id++ {
		if b.used[id] {
			return true
		}
	}
	return false
}

// kinds are without FreelistMapType, which file_storage uses: it takes free pages at random.
var kinds = map[string]bbolt.Options{"file_storage": {NoFreelistSync: true}, "bbolt": {}, "pages of 16 KiB": {PageSize: 16 << 10}}

// No state that bbolt writes is damage.
func TestIntactFiles(t *testing.T) {
	for name, options := range kinds {
		random := rand.New(rand.NewPCG(1, 2))
		path := filepath.Join(t.TempDir(), "db")
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, checked(t, path), "bbolt fills an empty file")
		for range 20 {
			fill(t, path, random, options)
			require.NoError(t, checked(t, path), name)
		}
	}
}

// A file is damaged if any page that is in use is missing, zero, or a copy of another; and what passes the check can be used.
func TestDamagedFiles(t *testing.T) {
	for name, options := range kinds {
		random := rand.New(rand.NewPCG(3, 4))
		path := filepath.Join(t.TempDir(), "db")
		fill(t, path, random, options)
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		file, err := os.Open(path)
		require.NoError(t, err)
		db, err := open(file)
		require.NoError(t, err)
		db.size = uint64(len(whole))
		_, err = db.walk(db.root, nil, nil)
		require.NoError(t, err)
		if db.freelist != noFreelist {
			require.NoError(t, db.free())
		}
		require.NoError(t, file.Close())

		size := int(db.pageSize)
		var now []byte
		damaged := func(change func(data []byte) []byte) error {
			now = change(bytes.Clone(whole))
			damage, err := check(bytes.NewReader(now), int64(len(now)))
			require.NoError(t, err)
			return damage
		}
		for id := range int(db.pages) {
			if err := damaged(func(data []byte) []byte { return data[:id*size+size/2] }); db.usesFrom(uint64(id)) {
				require.Error(t, err, "%s: the file ends in page %d", name, id)
			} else {
				require.NoError(t, err, "%s: only free pages are missing from %d on", name, id)
				use(t, path, now, options)
			}
			if !db.used[uint64(id)] || binary.NativeEndian.Uint64(whole[id*size:]) != uint64(id) {
				continue // free, or the rest of a long one
			}
			require.Error(t, damaged(func(data []byte) []byte { clear(data[id*size:][:size]); return data }), "%s: page %d is zero", name, id)
			require.Error(t, damaged(func(data []byte) []byte { copy(data[id*size:][:size], data[(id-1)*size:]); return data }), "%s: page %d is the one before", name, id)
		}
		for id := range int(db.pages) {
			page := whole[id*size:]
			kind, count := binary.NativeEndian.Uint16(page[8:]), binary.NativeEndian.Uint16(page[10:])
			if !db.used[uint64(id)] || binary.NativeEndian.Uint64(page) != uint64(id) || count < 2 || kind&(isBranch|isLeaf) == 0 {
				continue
			}
			key := map[uint16]int{isBranch: 0, isLeaf: 4}[kind]
			key = id*size + headerSize + int(binary.NativeEndian.Uint32(page[headerSize+key:]))
			require.ErrorContains(t, damaged(func(data []byte) []byte { data[key] = 0xff; return data }), "is not in order", "%s: page %d", name, id)
		}
		bucket := int(db.root)*size + headerSize // the only one in the root
		bucket += int(binary.NativeEndian.Uint32(whole[bucket+4:]) + binary.NativeEndian.Uint32(whole[bucket+8:]))
		require.ErrorContains(t, damaged(func(data []byte) []byte { clear(data[bucket:][:8]); return data }), "has no page", name)
		usable := 0
		for range 150 {
			err := damaged(func(data []byte) []byte {
				at := random.IntN(len(data) / 16)
				binary.NativeEndian.PutUint32(data[16*at+4*random.IntN(4):], random.Uint32()>>random.IntN(32))
				return data
			})
			if err == nil {
				usable++
				use(t, path, now, options)
			}
		}
		assert.NotZero(t, usable, name)
		for _, content := range []string{"x", "not a database, but longer than a page: ", string(make([]byte, 1<<17))} {
			require.EqualError(t, damaged(func([]byte) []byte { return []byte(content) }), "neither of its two states is valid")
		}
	}
}

// failing fails to read a byte, as a disk does.
type failing struct {
	io.ReaderAt

	at int64
}

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off <= f.at && f.at < off+int64(len(p)) {
		return 0, &fs.PathError{Op: "read", Path: "db", Err: syscall.EIO}
	}
	return f.ReaderAt.ReadAt(p, off)
}

// A file that cannot be read is not known to be damaged.
func TestFailingDisk(t *testing.T) {
	for name, options := range kinds {
		path := filepath.Join(t.TempDir(), "db")
		fill(t, path, rand.New(rand.NewPCG(9, 10)), options)
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		failed := 0
		for at := 0; at < len(whole); at += 1 << 12 {
			damage, err := check(failing{bytes.NewReader(whole), int64(at)}, int64(len(whole)))
			require.NoError(t, damage, "%s: byte %d", name, at)
			if err != nil {
				failed++
				require.ErrorIs(t, err, syscall.EIO)
			}
		}
		assert.NotZero(t, failed, name)
	}
}

// Damaged files of components are renamed, others are left alone.
func TestSetAside(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "exporter_otlp_grpc__traces")
	fill(t, good, rand.New(rand.NewPCG(5, 6)), kinds["file_storage"])
	bad := filepath.Join(dir, "extension_thread_engine__journal")
	inUse := filepath.Join(dir, "exporter_otlp_grpc_second_traces")
	fill(t, inUse, rand.New(rand.NewPCG(7, 8)), kinds["file_storage"])
	user, err := bbolt.Open(inUse, 0o600, nil)
	require.NoError(t, err)
	for name, content := range map[string]string{bad: "damaged", bad + Suffix: "earlier", filepath.Join(dir, "notes.txt"): "mine"} {
		require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	}
	core, log := observer.New(zap.DebugLevel)
	assert.Equal(t, 1, SetAside(dir, zap.New(core)))
	require.NoError(t, user.Close())
	assert.NoFileExists(t, bad)
	content, err := os.ReadFile(bad + Suffix)
	require.NoError(t, err)
	assert.Equal(t, "damaged", string(content))
	assert.FileExists(t, good)
	assert.FileExists(t, filepath.Join(dir, "notes.txt"))
	var said []map[string]any
	for _, entry := range log.AllUntimed() {
		fields := entry.ContextMap()
		fields["message"] = entry.Message
		said = append(said, fields)
	}
	assert.Equal(t, []map[string]any{
		{"message": "Cannot check a file of the storage", "path": inUse, "error": "another process uses it: each collector needs a directory of its own"},
		{
			"message": "A file of the storage is damaged: what it held is lost, and the collector begins with a new one; delete the damaged file, or keep it for a report",
			"path":    bad + Suffix, "damage": "neither of its two states is valid",
		},
	}, said)
	assert.Zero(t, SetAside(dir, zap.NewNop()), "once")
	assert.Zero(t, SetAside(filepath.Join(dir, "none"), zap.NewNop()))
}
