// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"errors"
	"fmt"
	"strconv"
)

// class is a type described by the metadata of a chunk.
type class struct {
	id     int64
	name   string
	event  bool
	fields []field
}

type field struct {
	name     string
	class    int64
	constant bool // the value is a key in the constant pool of the class
	array    bool
	unit     string // of a time: TICKS, NANOSECONDS, MILLISECONDS, ...; empty for other fields
}

// metadata describes the types of a chunk.
type metadata struct {
	classes map[int64]*class
	byName  map[string]*class
}

// Limits on metadata. A JDK has about 250 events and 1 500 types.
const (
	maxDepth    = 32
	maxElements = 1 << 20
)

// element is a node of the metadata tree.
type element struct {
	name       string
	attributes map[string]string
	children   []element
}

func parseMetadata(body []byte, raw bool) (*metadata, error) {
	c := &cursor{b: body, raw: raw}
	c.long() // start
	c.long() // duration
	c.long() // id
	texts := make([]string, c.count())
	for i := range texts {
		texts[i] = c.text().value
		if c.failed {
			return nil, errShort
		}
	}
	p := treeParser{cursor: c, texts: texts}
	root := p.element(0)
	switch {
	case p.wrong != "":
		return nil, errors.New(p.wrong)
	case c.failed:
		return nil, errShort
	}
	m := &metadata{classes: make(map[int64]*class), byName: make(map[string]*class)}
	for _, e := range root.children {
		if e.name == "metadata" {
			if err := m.add(e.children); err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

type treeParser struct {
	cursor *cursor
	texts  []string
	count  int
	wrong  string
}

func (p *treeParser) text() string {
	i := p.cursor.int()
	if i < 0 || i >= int64(len(p.texts)) {
		if !p.cursor.failed {
			p.wrong = fmt.Sprintf("string %d is undefined", i)
			p.cursor.fail()
		}
		return ""
	}
	return p.texts[i]
}

func (p *treeParser) element(depth int) element {
	p.count++
	if depth > maxDepth || p.count > maxElements {
		p.wrong = "too many or too deeply nested elements"
		p.cursor.fail()
	}
	e := element{name: p.text()}
	if n := p.cursor.count(); n > 0 {
		e.attributes = make(map[string]string, min(n, 8))
		for range n {
			key := p.text()
			e.attributes[key] = p.text()
			if p.cursor.failed {
				return e
			}
		}
	}
	for range p.cursor.count() {
		if p.cursor.failed {
			break
		}
		e.children = append(e.children, p.element(depth+1))
	}
	return e
}

func (m *metadata) add(elements []element) error {
	for i := range elements {
		e := &elements[i]
		if e.name != "class" {
			continue
		}
		id, err := strconv.ParseInt(e.attributes["id"], 10, 64)
		if err != nil {
			return fmt.Errorf("the id %q of class %q is not a number", e.attributes["id"], e.attributes["name"])
		}
		m.classes[id] = &class{id: id, name: e.attributes["name"], event: e.attributes["superType"] == "jdk.jfr.Event"}
		m.byName[e.attributes["name"]] = m.classes[id]
	}
	units := map[int64]bool{} // annotations whose value is a unit of time
	for _, name := range []string{"jdk.jfr.Timespan", "jdk.jfr.Timestamp"} {
		if c := m.byName[name]; c != nil {
			units[c.id] = true
		}
	}
	for i := range elements {
		if elements[i].name == "class" {
			if err := m.addFields(&elements[i], units); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *metadata) addFields(e *element, units map[int64]bool) error {
	c := m.byName[e.attributes["name"]]
	c.fields = nil // of two classes with one name, the later one counts
	for i := range e.children {
		f := &e.children[i]
		if f.name != "field" {
			continue
		}
		id, err := strconv.ParseInt(f.attributes["class"], 10, 64)
		if err != nil {
			return fmt.Errorf("the class %q of field %s.%s is not a number", f.attributes["class"], c.name, f.attributes["name"])
		}
		parsed := field{
			name: f.attributes["name"], class: id, constant: f.attributes["constantPool"] == "true", array: f.attributes["dimension"] == "1",
		}
		for _, a := range f.children {
			if id, err := strconv.ParseInt(a.attributes["class"], 10, 64); err == nil && units[id] {
				parsed.unit = a.attributes["value"]
			}
		}
		c.fields = append(c.fields, parsed)
	}
	return nil
}
