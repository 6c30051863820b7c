// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package dump

import "github.com/weft-otel/weft/internal/jvmthread"

// objects numbers the objects of the dumps of a JVM. An object is the same in two dumps if a thread has it at the same place of the same stack, or if
// it has the same address: garbage collection moves objects.
type objects struct {
	last   uint32
	now    map[object]uint32
	before map[object]uint32
	used   map[uint32]bool // numbers of objects of the current dump
}

// next begins another dump.
func (o *objects) next() {
	o.before, o.now, o.used = o.now, make(map[object]uint32), make(map[uint32]bool)
}

// same records that an object is the one of the dump before, because a thread has both at the same place.
func (o *objects) same(was, is object) {
	if was.class != is.class || was.address == 0 || is.address == 0 {
		return
	}
	if _, known := o.now[is]; known {
		return
	}
	if n := o.before[was]; n != 0 && !o.used[n] {
		o.now[is], o.used[n] = n, true
	}
}

// lock returns the lock of an object of the current dump.
func (o *objects) lock(of object) jvmthread.LockID {
	if of.address == 0 {
		return jvmthread.LockID{Class: of.class}
	}
	n := o.now[of]
	if n == 0 {
		if n = o.before[of]; n == 0 || o.used[n] {
			o.last++
			n = o.last
		}
		o.now[of], o.used[n] = n, true
	}
	return jvmthread.LockID{Class: of.class, Hash: n}
}

// relate finds the objects of a dump that are those of the one before.
func (o *objects) relate(before map[key]*thread, threads []thread) {
	for i := range threads {
		is := &threads[i]
		was := before[is.key()]
		if was == nil || was.stack != is.stack || was.is != is.is {
			continue
		}
		o.same(was.awaits, is.awaits)
		if len(was.holds) != len(is.holds) {
			continue
		}
		for j := range is.holds {
			o.same(was.holds[j], is.holds[j])
		}
	}
}
