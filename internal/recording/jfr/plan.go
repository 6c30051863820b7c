// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"fmt"
	"slices"
)

// plan is how the bytes of a type are read: as a sequence of steps, with inline types flattened.
type plan struct {
	steps []step
	last  int // number of steps up to the last wanted field
	units [numSlots]string
	known [numSlots]bool // the type has the field
}

type step struct {
	kind  stepKind
	size  int  // of the value in bytes
	slot  slot // where the value goes; slotNone to skip it
	array bool // preceded by a count
	plain bool // one integer; packed unless the chunk is raw
	inner *plan
}

type stepKind uint8

const (
	stepInteger stepKind = iota
	stepFixed            // never packed
	stepText
	stepInner // elements of an array of inline types
)

// values are the wanted values of a type.
type values struct {
	plan  *plan // that was read last
	n     [numSlots]int64
	text  [numTexts]text
	array cursor // at the elements of the wanted array
	of    *plan  // of these elements
}

// maxSteps limits the size of a flattened type.
const maxSteps = 4096

// compile returns the plan for a class with the slots of the wanted fields. Field "a.b" is b in an inline a, or in the elements of an array a.
func (m *metadata) compile(c *class, wanted map[string]slot) (*plan, error) {
	p := &plan{}
	if err := m.flatten(p, c, wanted, "", 0); err != nil {
		return nil, fmt.Errorf("type %s: %w", c.name, err)
	}
	return p, nil
}

func (m *metadata) flatten(p *plan, c *class, wanted map[string]slot, prefix string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("field %s: too deeply nested types", prefix)
	}
	for i := range c.fields {
		f := &c.fields[i]
		name := prefix + f.name
		of := m.classes[f.class]
		switch {
		case len(p.steps) >= maxSteps:
			return fmt.Errorf("field %s: too many fields", name)
		case of == nil:
			return fmt.Errorf("field %s: undefined type %d", name, f.class)
		}
		s, inline := primitive(of.name)
		if f.constant {
			s, inline = step{kind: stepInteger, size: 8}, false
		}
		s.slot, s.array = wanted[name], f.array
		if inline && !f.array {
			if err := m.flatten(p, of, wanted, name+".", depth+1); err != nil {
				return err
			}
			continue
		}
		if inline {
			s.kind, s.inner = stepInner, &plan{}
			if err := m.flatten(s.inner, of, wanted, name+".", depth+1); err != nil {
				return err
			}
		}
		if !s.fits(f.constant) {
			s.slot = slotNone // unexpected type
		}
		s.plain = s.kind == stepInteger && !s.array && !s.slot.isText()
		p.steps = append(p.steps, s)
		if s.slot != slotNone {
			p.units[s.slot], p.known[s.slot], p.last = f.unit, true, len(p.steps)
		}
	}
	return nil
}

// only returns the plan with only some of the slots.
func (p *plan) only(wanted []slot) *plan {
	brief := &plan{steps: slices.Clone(p.steps), last: p.last}
	for i := range brief.steps {
		if s := &brief.steps[i]; !slices.Contains(wanted, s.slot) {
			s.slot = slotNone
			s.plain = s.kind == stepInteger && !s.array
		}
	}
	return brief
}

// fits reports whether the slot can hold the value of the step.
func (s *step) fits(constant bool) bool {
	switch {
	case s.slot == slotFrames:
		return s.array && s.kind == stepInner
	case s.slot.isText():
		return !s.array && (s.kind == stepText || constant)
	default:
		return !s.array && s.kind <= stepFixed
	}
}

// primitive returns the step of a primitive type, or inline for a type with fields.
func primitive(name string) (_ step, inline bool) {
	switch name {
	case "boolean", "byte":
		return step{kind: stepFixed, size: 1}, false
	case "char", "short":
		return step{kind: stepInteger, size: 2}, false
	case "int":
		return step{kind: stepInteger, size: 4}, false
	case "long":
		return step{kind: stepInteger, size: 8}, false
	case "float":
		return step{kind: stepFixed, size: 4}, false
	case "double":
		return step{kind: stepFixed, size: 8}, false
	case "java.lang.String":
		return step{kind: stepText}, false
	default:
		return step{}, true
	}
}

// read reads the wanted values and leaves the cursor after the last of them.
func (p *plan) read(c *cursor, v *values) { p.readSteps(c, v, p.last) }

// readAll reads the wanted values and skips the others.
func (p *plan) readAll(c *cursor, v *values) { p.readSteps(c, v, len(p.steps)) }

func (p *plan) readSteps(c *cursor, v *values, n int) {
	if v.plan != p { // otherwise all of its slots are overwritten
		v.plan, v.n = p, [numSlots]int64{}
	}
	b := c.b // stored once for all steps: each store costs a write barrier while garbage is collected
	for i := range p.steps[:n] {
		s := &p.steps[i]
		if !s.plain || c.raw {
			c.b = b
			s.read(c, v)
			if c.failed {
				return
			}
			b = c.b
			continue
		}
		length := 1
		switch {
		case s.slot == slotNone:
			length = packedLength(b)
		case len(b) > 0 && b[0] < 0x80:
			v.n[s.slot] = int64(b[0])
		default:
			var value int64
			if value, length = unpack(b); s.size == 4 {
				value = int64(int32(value))
			}
			v.n[s.slot] = value
		}
		if length == 0 {
			c.fail()
			return
		}
		b = b[length:]
	}
	c.b = b
}

func (s *step) read(c *cursor, v *values) {
	switch {
	case s.slot == slotNone:
		s.skip(c)
	case s.array:
		v.n[s.slot] = int64(c.count())
		v.array, v.of = *c, s.inner
		s.elements(c, int(v.n[s.slot]))
	case s.kind == stepText:
		v.text[s.slot.text()] = c.text()
	case s.slot.isText():
		v.text[s.slot.text()] = text{key: c.integer(s.size), symbol: true}
	case s.kind == stepInteger:
		v.n[s.slot] = c.integer(s.size)
	case s.size == 1:
		v.n[s.slot] = int64(c.byte())
	default:
		c.skip(s.size)
	}
}

func (s *step) skip(c *cursor) {
	if s.array {
		s.elements(c, c.count())
	} else {
		s.elements(c, 1)
	}
}

func (s *step) elements(c *cursor, n int) {
	for range n {
		switch s.kind { //exhaustive:enforce
		case stepInteger:
			c.integer(s.size)
		case stepFixed:
			c.skip(s.size)
		case stepText:
			c.skipText()
		case stepInner:
			for i := range s.inner.steps {
				s.inner.steps[i].skip(c)
			}
		}
		if c.failed {
			return
		}
	}
}
