// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"bytes"
	"encoding/binary"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Foreign is why a file is in none of the formats. It wraps ErrUnknown.
type Foreign struct {
	Is     string // "a heap dump"
	Remedy string
}

// Error implements error.
func (f *Foreign) Error() string { return "this is " + f.Is + "; " + f.Remedy }

// Unwrap returns ErrUnknown.
func (*Foreign) Unwrap() error { return ErrUnknown }

const (
	takeDump   = "for waits, take thread dumps (jstack PID) or a flight recording (jcmd PID JFR.start)"
	unpackIt   = "unpack it, and give the files in it"
	onlyJVMs   = "weft reads recordings and thread dumps of JVMs"
	convertNot = "weft writes such files and does not read them: give the recording from which it was made"
)

// foreign lists files that people have next to recordings, by their first bytes.
var foreign = [...]struct{ magic, is, remedy string }{
	{"JAVA PROFILE 1.0.", "a heap dump", "it has objects and no waits: " + takeDump},
	{"\x00\x12portable heap dump", "a heap dump of OpenJ9", "it has objects and no waits: " + takeDump},
	{"\xca\xfe\xba\xbe", "a Java class", onlyJVMs},
	{"MZ", "a program for Windows", onlyJVMs},
	{"\xcf\xfa\xed\xfe", "a program or core dump of macOS", takeDump},
	{"MDMP", "a core dump of Windows", "get a thread dump out of it: jhsdb jstack --exe JAVA.EXE --core FILE"},
	{"go 1.", "an execution trace of Go", onlyJVMs},
	{"goroutine ", "a dump of goroutines", onlyJVMs},
	{"Nettrace", "a trace of .NET", onlyJVMs},
	{"PERFILE2", "a profile of Linux perf", "it has no locks: " + takeDump},
	{"%PDF", "a PDF document", onlyJVMs},
	{"\x89PNG", "a picture", "a picture of a thread dump cannot be read: give the text"},
	{"\xff\xd8\xff", "a picture", "a picture of a thread dump cannot be read: give the text"},
	{"GIF8", "a picture", "a picture of a thread dump cannot be read: give the text"},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive", unpackIt},
	{"Rar!", "a rar archive", unpackIt},
	{headOfZip, "a zip archive", unpackIt},
	{emptyZip, "an empty zip archive", onlyJVMs},
}

// foreignTo describes the file that starts with head; nil: its kind is unknown.
func foreignTo(head []byte) *Foreign {
	text := strings.ToLower(string(bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n")))
	switch {
	case isJar(head):
		return &Foreign{"a jar", onlyJVMs}
	case strings.HasPrefix(text, "\x7felf"):
		return elf(head)
	case isTar(head):
		return &Foreign{"a tar archive", unpackIt}
	case strings.HasPrefix(text, "<!doctype html"), strings.HasPrefix(text, "<html"):
		return &Foreign{"a web page", "download the file itself"}
	}
	for i := range foreign {
		f := &foreign[i]
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return &Foreign{f.is, f.remedy}
		}
	}
	return protobuf(head)
}

// isJar reports whether the first file of a zip archive is where tools put it in jars.
func isJar(head []byte) bool {
	const offsetOfName = 30
	return isZip(head) && len(head) > offsetOfName && bytes.HasPrefix(head[offsetOfName:], []byte("META-INF/"))
}

func elf(head []byte) *Foreign {
	const offset, core = 16, 4
	if len(head) > offset+1 && binary.LittleEndian.Uint16(head[offset:]) == core {
		return &Foreign{"a core dump", "get a thread dump out of it: jhsdb jstack --exe JAVA --core FILE"}
	}
	return &Foreign{"a program or library", onlyJVMs}
}

// protobuf recognizes pprof profiles and Perfetto traces by the fields of their first message.
func protobuf(head []byte) *Foreign {
	number, kind, n := protowire.ConsumeTag(head)
	if n < 0 || number != 1 || kind != protowire.BytesType {
		return nil
	}
	length, m := protowire.ConsumeVarint(head[n:])
	if m < 0 {
		return nil
	}
	message := head[n+m:]
	message = message[:min(uint64(len(message)), length)]
	highest, numbers := protowire.Number(0), true
	for len(message) > 0 {
		field, kind, size := protowire.ConsumeField(message)
		if size < 0 {
			break
		}
		highest, numbers, message = max(highest, field), numbers && kind == protowire.VarintType, message[size:]
	}
	const lastOfValueType, timestamp = 2, 8 // of a pprof.Profile.ValueType, of a perfetto.TracePacket
	switch {
	case highest > 0 && highest <= lastOfValueType && numbers:
		return &Foreign{"a pprof profile", "it has sums and no single waits: " + takeDump}
	case highest >= timestamp && highest < 1000: // OTLP's ResourceSpans have lower and higher fields
		return &Foreign{"a Perfetto trace", convertNot}
	}
	return nil
}
