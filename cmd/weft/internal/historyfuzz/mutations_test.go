// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package historyfuzz

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// mutation is a way to damage a history. With the seed and the name of the history, it says all that happens.
type mutation struct {
	kind   string
	number int // of a border; else one of many random ones
}

func (m mutation) String() string { return m.kind + "/" + strconv.Itoa(m.number) }

func parse(text string) (mutation, error) {
	kind, number, _ := strings.Cut(text, "/")
	n, err := strconv.Atoi(number)
	if kinds[kind] == nil && kind != border || err != nil {
		return mutation{}, fmt.Errorf("mutation %q: want a kind and a number, such as flip/3", text)
	}
	return mutation{kind, n}, nil
}

// border is the kind of mutations whose number is that of the piece after which the history ends.
const border = "border"

// kinds are the other ways to damage a history.
var kinds = map[string]func(rng *rand.Rand, h *history) []byte{
	"cut":  func(rng *rand.Rand, h *history) []byte { return h.data[:rng.IntN(len(h.data))] },
	"flip": flip, "remove": remove, "repeat": repeat, "swap": swap, "value": setValue, "lie": lie, "confuse": confuse,
	"mix": func(rng *rand.Rand, h *history) []byte {
		damaged := *h
		for range 2 + rng.IntN(4) {
			if len(damaged.data) == 0 {
				break
			}
			damaged.data = [...]func(*rand.Rand, *history) []byte{flip, remove, repeat, swap, setValue, lie, confuse}[rng.IntN(7)](rng, &damaged)
		}
		return damaged.data
	},
}

// apply returns a damaged copy of a history.
func (m mutation) apply(h *history, seed uint64) []byte {
	if m.kind == border {
		return bytes.Join(pieces(h)[:m.number], nil)
	}
	name := fnv.New64a()
	fmt.Fprintf(name, "%s %s", h.name, m)
	return kinds[m.kind](rand.New(rand.NewPCG(seed, name.Sum64())), h)
}

// place returns an offset of the history. Each piece is as likely as each byte: most of a flight recording is about names, and most pieces are
// short.
func place(rng *rand.Rand, h *history) int {
	if rng.IntN(2) == 0 {
		return rng.IntN(len(h.data))
	}
	all := pieces(h)
	n := rng.IntN(len(all))
	offset := 0
	for _, p := range all[:n] {
		offset += len(p)
	}
	return offset + rng.IntN(min(len(all[n]), 64))
}

func flip(rng *rand.Rand, h *history) []byte {
	data := slices.Clone(h.data)
	for range 1 + rng.IntN(4) {
		data[place(rng, h)] ^= 1 << rng.IntN(8)
	}
	return data
}

// setValue replaces bytes by ones that mean nothing, the most, or the sign in many encodings of numbers.
func setValue(rng *rand.Rand, h *history) []byte {
	data := slices.Clone(h.data)
	value := [...]byte{0, 0xff, 0x7f, 0x80, 1, '0', '9', '-'}[rng.IntN(8)]
	at := place(rng, h)
	for i := range min([...]int{1, 2, 4, 8, 16}[rng.IntN(5)], len(data)-at) {
		data[at+i] = value
	}
	return data
}

// part returns a part of the history: some pieces, or some bytes.
func part(rng *rand.Rand, h *history) (from, to int) {
	if rng.IntN(2) == 0 {
		from = place(rng, h)
		return from, from + rng.IntN(min(256, len(h.data)-from)+1)
	}
	all := pieces(h)
	first := rng.IntN(len(all))
	last := min(first+1<<rng.IntN(6), len(all))
	for i, p := range all[:last] {
		if i < first {
			from += len(p)
		}
		to += len(p)
	}
	return from, to
}

func remove(rng *rand.Rand, h *history) []byte {
	from, to := part(rng, h)
	return slices.Concat(h.data[:from], h.data[to:])
}

// repeat repeats a part, there or elsewhere.
func repeat(rng *rand.Rand, h *history) []byte {
	from, to := part(rng, h)
	at := to
	if rng.IntN(2) == 0 {
		at, _ = part(rng, h)
	}
	return slices.Concat(h.data[:at], h.data[from:to], h.data[at:])
}

// swap exchanges two parts.
func swap(rng *rand.Rand, h *history) []byte {
	a, b := part(rng, h)
	c, d := part(rng, h)
	if c < a {
		a, b, c, d = c, d, a, b
	}
	c = max(b, c)
	d = max(c, d)
	return slices.Concat(h.data[:a], h.data[c:d], h.data[b:c], h.data[a:b], h.data[d:])
}
