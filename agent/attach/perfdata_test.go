// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"encoding/binary"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// counter is an entry of a file as HotSpot writes it: a text, or a number if it has none.
type counter struct{ name, text string }

// perfData returns the bytes of a file. Lengths are padded as HotSpot does, texts have room after them.
func perfData(order binary.ByteOrder, counters ...counter) []byte {
	const room = 7
	header := perfDataHeader{Magic: perfDataMagic, Major: 2, Accessible: 1, EntryAt: 32, Entries: int32(len(counters))}
	if order == binary.LittleEndian {
		header.ByteOrder, header.Magic = 1, bits.ReverseBytes32(perfDataMagic)
	}
	data, _ := binary.Append(nil, order, header)
	for _, c := range counters {
		entry := perfDataEntry{NameAt: 20, Type: 'J', DataAt: int32(20 + len(c.name) + 1)}
		value := make([]byte, 8)
		if c.text != "" {
			entry.Type, entry.Elements = perfDataString, int32(len(c.text)+room)
			value = append([]byte(c.text), make([]byte, room)...)
		}
		entry.Length = entry.DataAt + int32(len(value))
		data, _ = binary.Append(data, order, entry)
		data = append(append(append(data, c.name...), 0), value...)
	}
	return append(data, make([]byte, 1000)...) // the rest of the memory
}

func TestPerfData(t *testing.T) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		data := perfData(order, counter{"sun.rt.createVmBeginTime", ""}, counter{javaVersion, "17.0.15"}, counter{"x", "y"},
			counter{javaCommand, "Main a b"})
		got, err := parsePerfData(data, javaVersion, javaCommand, vmArguments)
		require.NoError(t, err)
		assert.Equal(t, map[string]string{javaVersion: "17.0.15", javaCommand: "Main a b"}, got)
	}
}

func TestPerfDataIsBounded(t *testing.T) {
	at := func(offset int, value uint32) func([]byte) {
		return func(data []byte) { binary.LittleEndian.PutUint32(data[offset:], value) }
	}
	const entry = 32
	for name, c := range map[string]struct {
		change func([]byte)
		want   string
	}{
		"magic":                  {at(0, 1), "want 0xcafec0c0"},
		"version":                {func(data []byte) { data[5] = 3 }, "major version 3"},
		"starting":               {func(data []byte) { data[7] = 0 }, "accessible 0"},
		"negative start":         {at(24, 1<<31), "no error"},
		"start beyond the end":   {at(24, 1<<30), "entry 1 of 1 leaves the file"},
		"too many entries":       {at(28, 1<<30), "leaves the file"},
		"entry without a length": {at(entry, 0), "entry 1 of 1 leaves the file"},
		"negative length":        {at(entry, 1<<31), "entry 1 of 1 leaves the file"},
		"too long":               {at(entry, 1<<20), "entry 1 of 1 leaves the file"},
		"name before":            {at(entry+4, 1<<31), "the name of entry 1 leaves it"},
		"name beyond":            {at(entry+4, 1<<20), "the name of entry 1 leaves it"},
		"value before":           {at(entry+16, 1<<31), "the value of entry 1 leaves it"},
		"value beyond":           {at(entry+16, 1<<20), "the value of entry 1 leaves it"},
		"value longer":           {at(entry+8, 1<<30), "no error"},
		"negative value":         {at(entry+8, 1<<31), "no error"},
	} {
		t.Run(name, func(t *testing.T) {
			data := perfData(binary.LittleEndian, counter{javaVersion, "17"})
			c.change(data)
			got, err := parsePerfData(data, javaVersion)
			if c.want == "no error" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, errPerfData)
			require.ErrorContains(t, err, c.want)
			assert.Nil(t, got)
		})
	}
	_, err := parsePerfData(perfData(binary.LittleEndian)[:31])
	require.ErrorIs(t, err, errPerfData)
	_, err = parsePerfData(append(perfData(binary.LittleEndian), make([]byte, maxPerfData)...))
	require.ErrorContains(t, err, "at most 1048576 bytes")
}

func FuzzPerfData(f *testing.F) {
	f.Add(perfData(binary.LittleEndian, counter{"a", ""}, counter{javaVersion, "17.0.15"}))
	f.Add(perfData(binary.BigEndian, counter{javaCommand, "Main a b"}, counter{"a", ""}))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := parsePerfData(data, javaVersion, javaCommand)
		if err != nil {
			require.ErrorIs(t, err, errPerfData)
			require.Nil(t, got)
		}
		for name, text := range got {
			require.Contains(t, []string{javaVersion, javaCommand}, name)
			require.LessOrEqual(t, len(text), len(data))
		}
	})
}
