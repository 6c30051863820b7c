// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package orca

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
)

// metadata numbers the methods of frames and writes them to the files of LENS. While the log grows, a class or method is added to its file
// before the first line that refers to it, and again when more of it is known. In the end each has one line.
type metadata struct {
	methods map[methodKey]*written
	files   map[string]string // source files of classes
	text    int               // bytes of names

	newClasses, newMethods []byte // since the last call of take
}

type methodKey struct{ function, signature string }

// written is a method in the metadata.
type written struct {
	id        uint32
	class     string
	method    string
	signature string // empty if it is unknown, or not valid
	lines     []line // ascending by start: those of the locations in the log
}

const (
	inNative     = 1<<32 - 1 // the location of a frame in a native method
	unknownIndex = -2        // of a frame in the bytecode
)

func newMetadata() metadata {
	return metadata{methods: make(map[methodKey]*written), files: make(map[string]string)}
}

// take returns what to write to the files since the last call.
func (w *metadata) take(last bool) []recording.Sidecar {
	classes, methods := w.newClasses, w.newMethods
	w.newClasses, w.newMethods = nil, nil
	if len(w.methods) == 0 || !last && len(classes) == 0 && len(methods) == 0 {
		return nil
	}
	if !last {
		return []recording.Sidecar{{Extension: ExtensionClasses, Text: classes}, {Extension: ExtensionMethods, Text: methods}}
	}
	classes, methods = nil, nil
	for _, name := range slices.Sorted(maps.Keys(w.files)) {
		classes = appendClass(classes, name, w.files[name])
	}
	for _, m := range slices.SortedFunc(maps.Values(w.methods), func(a, b *written) int { return cmp.Compare(a.id, b.id) }) {
		methods = appendMethod(methods, m)
	}
	return []recording.Sidecar{
		{Extension: ExtensionClasses, Text: classes, Replace: true},
		{Extension: ExtensionMethods, Text: methods, Replace: true},
		{Extension: ExtensionMeta, Text: slices.Concat(classes, methods), Replace: true},
	}
}

// define returns the numbers of a frame's method and location. Both are 0 for other text, and over the limits of the decoder. The location is
// the index in the bytecode, or the line if the index is unknown.
func (w *metadata) define(text, signature string, index int32) (method, location uint32) {
	f, ok := symbols.ParseFrame(text)
	if !ok || f.Class == "" {
		return 0, 0
	}
	if skipSignature([]byte(signature)) != len(signature) {
		signature = ""
	}
	key := methodKey{f.Function(), signature}
	m := w.methods[key]
	fresh := m == nil
	if fresh {
		size := len(f.Class) + len(f.Method) + len(signature)
		if len(w.methods) >= maxMethods || w.text+size > maxMetaText {
			return 0, 0
		}
		w.text += size
		m = &written{id: uint32(len(w.methods)) + 1, class: f.Class, method: oneLine(f.Method), signature: signature}
		w.methods[key] = m
	}
	if file, known := w.files[f.Class]; !known || file == "" && f.File != "" {
		w.files[f.Class] = oneLine(f.File)
		w.newClasses = appendClass(w.newClasses, f.Class, w.files[f.Class])
	}
	switch {
	case f.Line < 0:
		location = inNative
	case index >= 0 && signature != "":
		location = uint32(index)
	default:
		location = uint32(f.Line)
	}
	if f.Line > 0 && m.add(line{start: uint64(location), number: uint32(f.Line)}) {
		fresh = true
	}
	if fresh {
		w.newMethods = appendMethod(w.newMethods, m)
	}
	return m.id, location
}

// add adds an entry to the line table, and reports whether it is new.
func (m *written) add(l line) bool {
	at, known := slices.BinarySearchFunc(m.lines, l, func(a, b line) int { return cmp.Compare(a.start, b.start) })
	if !known {
		m.lines = slices.Insert(m.lines, at, l)
	}
	return !known
}

func appendClass(dst []byte, name, file string) []byte {
	return append(append(append(appendSignature(dst, name), ','), file...), '\n')
}

// appendMethod appends a method with all lines known so far.
func appendMethod(dst []byte, m *written) []byte {
	dst = append(append(appendHash(dst, m.id), ','), m.method...)
	dst = append(append(append(dst, ','), m.signature...), ',')
	dst = append(appendSignature(dst, m.class), ',')
	if len(m.lines) == 0 {
		return append(dst, "-1\n"...)
	}
	dst = strconv.AppendInt(dst, int64(len(m.lines)), 10)
	for _, l := range m.lines {
		dst = appendHash(append(dst, ','), uint32(l.start))
		dst = strconv.AppendUint(append(dst, ','), uint64(l.number), 10)
	}
	return append(dst, '\n')
}

// appendSignature appends the signature of a class.
func appendSignature(dst []byte, class string) []byte {
	class = swapDots(oneLine(class))
	if strings.HasPrefix(class, "[") {
		return append(dst, class...)
	}
	return append(append(append(dst, 'L'), class...), ';')
}

// Sidecars implements recording.Encoder.
func (e *encoder) Sidecars(last bool) []recording.Sidecar { return e.meta.take(last) }
