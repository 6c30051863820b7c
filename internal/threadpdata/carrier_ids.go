// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"fmt"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// maxRawID bounds the IDs of classes and stacks, so that tables can be indexed by ID. Symbol tables have smaller ones.
const maxRawID = 1 << 20

// definedIDs are the IDs that a carrier defines.
type definedIDs struct {
	classes idMap[jvmthread.ClassID]
	stacks  idMap[jvmthread.StackID]
}

// resolve replaces the IDs of a class and a stack, and reports whether the carrier defines them.
func (ids *definedIDs) resolve(class *jvmthread.ClassID, stack *jvmthread.StackID) bool {
	return ids.classes.resolve(class) && ids.stacks.resolve(stack)
}

// idMap maps the IDs of a carrier to those of the reader.
type idMap[ID ~uint32] struct {
	list  []mapped[ID] // by the carrier's ID
	round uint32
}

type mapped[ID ~uint32] struct {
	round uint32 // in which it was defined; others are of earlier carriers
	id    ID
}

// clear removes all IDs.
func (m *idMap[ID]) clear() {
	if m.round++; m.round == 0 {
		clear(m.list)
		m.round = 1
	}
}

func (m *idMap[ID]) define(id, to ID) error {
	if id > maxRawID {
		return fmt.Errorf("ID %d exceeds %d", id, maxRawID)
	}
	if n := int(id) + 1 - len(m.list); n > 0 {
		m.list = append(m.list, make([]mapped[ID], n)...)
	}
	m.list[id] = mapped[ID]{m.round, to}
	return nil
}

// last returns the reader's ID that an ID had in the last carrier that defined it, maybe of another session, or 0.
func (m *idMap[ID]) last(id ID) ID {
	if int(id) < len(m.list) {
		return m.list[id].id
	}
	return 0
}

// resolve replaces an ID of the carrier, and reports whether the carrier defines it.
func (m *idMap[ID]) resolve(id *ID) bool {
	if *id == 0 {
		return true
	}
	if int(*id) >= len(m.list) || m.list[*id].round != m.round {
		return false
	}
	*id = m.list[*id].id
	return true
}
