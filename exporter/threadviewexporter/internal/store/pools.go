// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import "strings"

// Pools returns the pool of each thread: its name with a star in place of each number if another thread has the same, otherwise empty. The list
// is read-only.
func (sn *Snapshot) Pools() []string {
	sn.poolsOnce.Do(func() {
		sn.pools = make([]string, len(sn.Threads))
		count := make(map[string]int)
		for i := range sn.Threads {
			if t := &sn.Threads[i]; t.Known && t.Name != "" {
				sn.pools[i] = starred(t.Name)
				count[sn.pools[i]]++
			}
		}
		for i, p := range sn.pools {
			if p == "" || count[p] < 2 {
				sn.pools[i] = ""
			}
		}
	})
	return sn.pools
}

// starred replaces each number in a name by a star. It is empty if there are no numbers.
func starred(name string) string {
	if !strings.ContainsAny(name, "0123456789") {
		return ""
	}
	out := make([]byte, 0, len(name))
	digits := false
	for i := range len(name) {
		if digit := name[i] >= '0' && name[i] <= '9'; digit != digits || !digit {
			if digit {
				out = append(out, '*')
			} else {
				out = append(out, name[i])
			}
			digits = digit
		}
	}
	return string(out)
}
