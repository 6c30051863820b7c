// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import "errors"

// constants are the constant pools of a chunk, as far as they are needed.
type constants struct {
	raw     bool
	pools   map[int64]*pool // by type
	trace   *plan           // of a stack; nil if the metadata describes no frames
	strings map[int64]string
	symbols map[int64]text
	classes map[int64]text // names
	methods map[int64]methodConstant
	groups  map[int64]groupConstant
	threads map[int64]threadConstant
	stacks  map[int64][]byte
	native  int64 // the frame type of native methods

	bytes int64 // size of stacks
	// keysAreIDs: the key of each Java thread so far is its id, as is the case since JDK 16.
	keysAreIDs bool
}

type (
	methodConstant struct {
		class            int64
		name, descriptor text
	}
	groupConstant struct {
		parent int64
		name   text
	}
	threadConstant struct {
		id           int64 // 0: not a Java thread
		group        int64
		name, osName text
		virtual      bool
	}
)

// pool defines how the constants of a type are read and kept, if they are.
type pool struct {
	plan *plan
	keep func(c *constants, key int64, v *values, value []byte)
}

// maxStackBytes limits the stacks of a chunk. Those above it are missing.
const maxStackBytes = 256 << 20

var wantedPools = map[string]struct {
	fields map[string]slot
	keep   func(c *constants, key int64, v *values, value []byte)
}{
	"java.lang.String": {nil, func(c *constants, key int64, v *values, _ []byte) {
		c.strings[key] = v.text[slotName.text()].value
	}},
	"jdk.types.Symbol": {map[string]slot{"string": slotName}, func(c *constants, key int64, v *values, _ []byte) {
		c.symbols[key] = v.text[slotName.text()]
	}},
	"java.lang.Class": {map[string]slot{"name": slotName}, func(c *constants, key int64, v *values, _ []byte) {
		c.classes[key] = v.text[slotName.text()]
	}},
	"jdk.types.Method": {map[string]slot{"type": slotClass, "name": slotName, "descriptor": slotType}, func(c *constants, key int64, v *values, _ []byte) {
		c.methods[key] = methodConstant{class: v.n[slotClass], name: v.text[slotName.text()], descriptor: v.text[slotType.text()]}
	}},
	"jdk.types.ThreadGroup": {map[string]slot{"parent": slotGroup, "name": slotName}, func(c *constants, key int64, v *values, _ []byte) {
		c.groups[key] = groupConstant{parent: v.n[slotGroup], name: v.text[slotName.text()]}
	}},
	"java.lang.Thread": {
		map[string]slot{"osName": slotOSName, "javaName": slotName, "javaThreadId": slotID, "group": slotGroup, "virtual": slotVirtual},
		(*constants).keepThread,
	},
	"jdk.types.FrameType": {map[string]slot{"description": slotName}, func(c *constants, key int64, v *values, _ []byte) {
		if v.text[slotName.text()].value == "Native" {
			c.native = key
		}
	}},
	"jdk.types.StackTrace": {
		map[string]slot{
			"truncated": slotCut, "frames": slotFrames, "frames.method": slotMethod, "frames.lineNumber": slotLine, "frames.type": slotKind,
			"frames.bytecodeIndex": slotIndex,
		},
		(*constants).keepStack,
	},
}

func newConstants(m *metadata, raw bool) (*constants, error) {
	c := &constants{
		raw: raw, pools: make(map[int64]*pool, len(m.classes)), keysAreIDs: true,
		strings: make(map[int64]string), symbols: make(map[int64]text), classes: make(map[int64]text),
		methods: make(map[int64]methodConstant), groups: make(map[int64]groupConstant), threads: make(map[int64]threadConstant),
		stacks: make(map[int64][]byte),
	}
	for id, class := range m.classes {
		wanted := wantedPools[class.name]
		p, err := m.compile(class, wanted.fields)
		if err != nil {
			return nil, err
		}
		if s, inline := primitive(class.name); !inline {
			s.slot = slotName // where keep expects a string
			p = &plan{steps: []step{s}}
		}
		c.pools[id] = &pool{plan: p, keep: wanted.keep}
		if p.known[slotFrames] {
			c.trace = p
		}
	}
	return c, nil
}

// add reads a checkpoint: the constants that are new since the previous one.
func (c *constants) add(body []byte) error {
	cur := &cursor{b: body, raw: c.raw}
	cur.long() // start
	cur.long() // duration
	cur.long() // distance to the previous checkpoint
	cur.byte() // kind of checkpoint
	var v values
	for range cur.int() {
		of := cur.long()
		p := c.pools[of]
		n := cur.int()
		if cur.failed {
			return errShort
		}
		if p == nil {
			return errors.New("a constant has a type that the metadata does not describe")
		}
		for range n {
			key := cur.long()
			value := cur.b
			v.text = [numTexts]text{}
			if p.keep == nil {
				for i := range p.plan.steps {
					p.plan.steps[i].skip(cur)
				}
			} else {
				p.plan.readAll(cur, &v)
			}
			if cur.failed {
				return errShort
			}
			if p.keep != nil {
				p.keep(c, key, &v, value[:len(value)-len(cur.b)])
			}
		}
	}
	return nil
}

func (c *constants) keepThread(key int64, v *values, _ []byte) {
	id := v.n[slotID]
	if id != 0 && id != key {
		c.keysAreIDs = false
	}
	c.threads[key] = threadConstant{
		id: id, group: v.n[slotGroup], name: v.text[slotName.text()], osName: v.text[slotOSName.text()], virtual: v.n[slotVirtual] != 0,
	}
}

func (c *constants) keepStack(key int64, _ *values, value []byte) {
	if c.bytes+int64(len(value)) > maxStackBytes {
		return
	}
	if _, again := c.stacks[key]; again {
		return
	}
	c.bytes += int64(len(value))
	c.stacks[key] = append([]byte(nil), value...)
}

// text resolves a string.
func (c *constants) text(t text) string {
	for range 3 { // the text of a symbol may be in the pool of strings
		switch {
		case t.key == 0:
			return t.value
		case !t.symbol:
			return c.strings[t.key]
		default:
			t = c.symbols[t.key]
		}
	}
	return ""
}

// take takes over the constants read so far with other metadata of the same chunk.
func (c *constants) take(old *constants) {
	c.strings, c.symbols, c.classes, c.methods, c.groups, c.threads, c.stacks = old.strings, old.symbols, old.classes, old.methods, old.groups, old.threads, old.stacks
	c.bytes, c.keysAreIDs, c.native = old.bytes, old.keysAreIDs, old.native
}
