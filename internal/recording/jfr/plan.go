// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import "fmt"

// plan says how the bytes of a type are to be read: one step after the other, inline types flattened.
type plan struct {
	steps []step
	last  int // steps needed for what is wanted of it
	units [numSlots]string
	known [numSlots]bool // the type has such a field
}

type step struct {
	kind  stepKind
	size  int  // of an integer, or of what is passed over
	slot  slot // where the value goes; slotNone: nowhere
	array bool // count first
	inner *plan
}

type stepKind uint8

const (
	stepInteger stepKind = iota
	stepFixed            // bytes that are never packed
	stepText
	stepInner // elements of an array of inline types
)

// values are what a plan takes from bytes.
type values struct {
	n     [numSlots]int64
	text  [numTexts]text
	array cursor // behind the count of the array that is wanted
}

// maxSteps bounds a flattened type.
const maxSteps = 4096

// compile makes a plan for a class, with the slots of the fields that are wanted. A field "a.b" is b in an inline a.
func (m *metadata) compile(c *class, wanted map[string]slot) (*plan, error) {
	p := &plan{}
	if err := m.flatten(p, c, wanted, "", 0); err != nil {
		return nil, fmt.Errorf("type %s: %w", c.name, err)
	}
	return p, nil
}

func (m *metadata) flatten(p *plan, c *class, wanted map[string]slot, prefix string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("field %s: types are nested too deeply", prefix)
	}
	for i := range c.fields {
		f := &c.fields[i]
		name := prefix + f.name
		of := m.classes[f.class]
		switch {
		case len(p.steps) >= maxSteps:
			return fmt.Errorf("field %s: there are too many fields", name)
		case of == nil:
			return fmt.Errorf("field %s: there is no type %d", name, f.class)
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
			if err := m.flatten(s.inner, of, nil, name+".", depth+1); err != nil {
				return err
			}
		}
		if !s.fits(f.constant) {
			s.slot = slotNone // of a type that nobody expects
		}
		p.steps = append(p.steps, s)
		if s.slot != slotNone {
			p.units[s.slot], p.known[s.slot], p.last = f.unit, true, len(p.steps)
		}
	}
	return nil
}

// fits reports whether the slot can take what the step reads.
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

// primitive returns how a value of a type without fields is read, or that it is one with fields.
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

// read takes what is wanted, and stops when it has it.
func (p *plan) read(c *cursor, v *values) { p.readSteps(c, v, p.last) }

// readAll takes what is wanted, and passes over the rest.
func (p *plan) readAll(c *cursor, v *values) { p.readSteps(c, v, len(p.steps)) }

func (p *plan) readSteps(c *cursor, v *values, n int) {
	v.n = [numSlots]int64{}
	for i := range p.steps[:n] {
		s := &p.steps[i]
		switch {
		case s.slot == slotNone:
			s.pass(c)
		case s.array:
			v.n[s.slot] = int64(c.count())
			v.array = *c
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
		if c.failed {
			return
		}
	}
}

func (s *step) pass(c *cursor) {
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
				s.inner.steps[i].pass(c)
			}
		}
		if c.failed {
			return
		}
	}
}
