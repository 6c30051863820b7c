// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// maxPerfData is the size limit of HotSpot's file of counters, in bytes; the default of -XX:PerfDataMemorySize is 32 KiB.
const maxPerfData = 1 << 20

// perfDataHeader is the start of the file, version 2 of HotSpot's format (perfMemory.hpp). The byte order is that of the machine.
type perfDataHeader struct {
	Magic            uint32 // always big-endian
	ByteOrder        uint8  // 0: big-endian, 1: little-endian
	Major, Minor     uint8
	Accessible       uint8 // 0 while the JVM starts
	Used, Overflow   int32 // bytes
	Modified         int64
	EntryAt, Entries int32
}

// perfDataEntry is the start of an entry. Offsets are from there.
type perfDataEntry struct {
	Length, NameAt, Elements        int32
	Type, Flags, Units, Variability uint8
	DataAt                          int32
}

const (
	perfDataMagic  = 0xcafec0c0
	perfDataString = 'B' // bytes
)

// Names of HotSpot's counters.
const (
	javaCommand = "sun.rt.javaCommand"
	javaVersion = "java.property.java.version"
	vmArguments = "java.rt.vmArgs"
)

var errPerfData = errors.New("invalid hsperfdata file")

// parsePerfData returns the texts of the file that have one of these names. It is as the JVM's user wrote it.
func parsePerfData(data []byte, wanted ...string) (map[string]string, error) {
	var header perfDataHeader
	size := binary.Size(header)
	if len(data) < size || len(data) > maxPerfData || binary.BigEndian.Uint32(data) != perfDataMagic {
		return nil, fmt.Errorf("%w: want 0xcafec0c0 and at most %d bytes", errPerfData, maxPerfData)
	}
	var order binary.ByteOrder = binary.BigEndian
	if data[4] == 1 {
		order = binary.LittleEndian
	}
	if _, err := binary.Decode(data, order, &header); err != nil {
		return nil, fmt.Errorf("%w: %w", errPerfData, err)
	}
	if header.Major != 2 || header.Accessible == 0 {
		return nil, fmt.Errorf("%w: major version %d, accessible %d: want 2 and 1", errPerfData, header.Major, header.Accessible)
	}
	found := map[string]string{}
	rest := data[min(max(int(header.EntryAt), size), len(data)):]
	for i := range header.Entries {
		var entry perfDataEntry
		if _, err := binary.Decode(rest, order, &entry); err != nil || int(entry.Length) < binary.Size(entry) || int(entry.Length) > len(rest) {
			return nil, fmt.Errorf("%w: entry %d of %d leaves the file", errPerfData, i+1, header.Entries)
		}
		whole := rest[:entry.Length]
		rest = rest[entry.Length:]
		name, ok := textAt(whole, entry.NameAt, entry.Length)
		if !ok {
			return nil, fmt.Errorf("%w: the name of entry %d leaves it", errPerfData, i+1)
		}
		if entry.Type != perfDataString || entry.Elements <= 0 || !slices.Contains(wanted, string(name)) {
			continue
		}
		text, ok := textAt(whole, entry.DataAt, entry.Elements)
		if !ok {
			return nil, fmt.Errorf("%w: the value of entry %d leaves it", errPerfData, i+1)
		}
		found[string(name)] = string(text)
	}
	return found, nil
}

// textAt returns the text at an offset, up to a zero byte or a limit.
func textAt(data []byte, at, most int32) ([]byte, bool) {
	if at < 0 || int(at) >= len(data) || most < 0 {
		return nil, false
	}
	data = data[at:]
	data = data[:min(int(most), len(data))]
	if end := bytes.IndexByte(data, 0); end >= 0 {
		data = data[:end]
	}
	return data, true
}
