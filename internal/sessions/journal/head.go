// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// Head is where a session continues. The fields are exported for gob, which also reads heads with fewer or more of them.
type Head struct {
	Resource []byte // of the session, as traces of OTLP
	First    uint64 // number of the first entry
	Next     uint64 // batch to continue with; 0: join at the first one that arrives
	Seen     uint64 // events in the batches before
	Windows  [][]byte
}

// Checkpoint is the state of an engine at the start of its open window, and what the IDs in it stand for. It does not change.
type Checkpoint struct {
	Length  time.Duration // of the engine's windows
	Start   jvmthread.Time
	State   *engine.State // until Restore
	Threads []jvmthread.Thread
	Classes map[jvmthread.ClassID]string
	Stacks  map[jvmthread.StackID]string

	encoded func() []byte
}

// NewCheckpoint returns a checkpoint, which owns the state, with its names from a symbol table.
func NewCheckpoint(length time.Duration, state *engine.State, sym *symbols.Table) *Checkpoint {
	c := &Checkpoint{Length: length, Start: state.Start, State: state, Classes: make(map[jvmthread.ClassID]string), Stacks: make(map[jvmthread.StackID]string)}
	for th := range sym.Platform { // the engine may not have heard of all of them yet
		c.Threads = append(c.Threads, th)
	}
	for i := range state.Timeline.Threads {
		if th := sym.Thread(state.Timeline.Threads[i].Open.Thread); th.Virtual {
			c.Threads = append(c.Threads, th)
		}
	}
	state.Symbols(func(id *jvmthread.ClassID) {
		if *id != jvmthread.NoClass {
			c.Classes[*id] = sym.Class(*id)
		}
	}, func(id *jvmthread.StackID) {
		if *id != jvmthread.NoStack {
			c.Stacks[*id] = sym.Whole(*id)
		}
	})
	c.encoded = sync.OnceValue(c.encode)
	return c
}

func (c *Checkpoint) encode() []byte {
	var data bytes.Buffer
	if err := gob.NewEncoder(&data).Encode(c); err != nil {
		panic(err) // a type that gob does not know; tests encode all of them
	}
	return data.Bytes()
}

// Restore puts the names into a symbol table and returns the state with the table's IDs. It can be called once.
func (c *Checkpoint) Restore(sym *symbols.Table) *engine.State {
	for _, th := range c.Threads {
		sym.SetThread(th)
	}
	classes, stacks := make(map[jvmthread.ClassID]jvmthread.ClassID), make(map[jvmthread.StackID]jvmthread.StackID)
	for _, id := range slices.Sorted(maps.Keys(c.Classes)) { // equal shares of a window are in the order of IDs
		classes[id] = sym.InternClass(c.Classes[id])
	}
	for _, id := range slices.Sorted(maps.Keys(c.Stacks)) {
		stacks[id] = sym.InternStack(c.Stacks[id])
	}
	state := c.State
	state.Symbols(func(id *jvmthread.ClassID) { *id = classes[*id] }, func(id *jvmthread.StackID) { *id = stacks[*id] })
	c.State = nil // the caller owns it; encoded still has the original
	return state
}

func (h *Head) encode() []byte {
	data := bytes.NewBuffer([]byte{version})
	if err := gob.NewEncoder(data).Encode(h); err != nil {
		panic(err) // as above
	}
	return data.Bytes()
}

func decodeHead(data []byte) (*Head, error) {
	if len(data) == 0 {
		return nil, errors.New("its head is missing")
	}
	if data[0] != version {
		return nil, errVersion
	}
	h := new(Head)
	if err := gob.NewDecoder(bytes.NewReader(data[1:])).Decode(h); err != nil {
		return nil, fmt.Errorf("its head: %w", err)
	}
	return h, nil
}

func decodeCheckpoint(data []byte) (*Checkpoint, error) {
	c := new(Checkpoint)
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(c); err != nil {
		return nil, fmt.Errorf("the state of its window: %w", err)
	}
	if c.State == nil {
		return nil, errors.New("the state of its window is missing")
	}
	c.encoded = func() []byte { return data }
	return c, nil
}

func encodeResource(resource pcommon.Resource) []byte {
	td := ptrace.NewTraces()
	resource.CopyTo(td.ResourceSpans().AppendEmpty().Resource())
	var marshaler ptrace.ProtoMarshaler
	data, _ := marshaler.MarshalTraces(td) // never fails
	return data
}

func decodeResource(data []byte) (pcommon.Resource, error) {
	var unmarshaler ptrace.ProtoUnmarshaler
	td, err := unmarshaler.UnmarshalTraces(data)
	if err != nil {
		return pcommon.Resource{}, fmt.Errorf("its resource: %w", err)
	}
	if td.ResourceSpans().Len() != 1 {
		return pcommon.Resource{}, errors.New("its resource is missing")
	}
	return td.ResourceSpans().At(0).Resource(), nil
}
