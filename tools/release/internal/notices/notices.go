// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package notices answers: whose work does a program contain, and under which licenses? It finds the texts where the program's parts were built
// from: in the cache of modules, in Go's own folder and in node_modules.
package notices

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Part is the work of others in a program: a module, Go's library, or an npm package.
type Part struct {
	Name, Version string
	root          string   // folder
	folders       []string // of what is linked, below the root
}

// text is a license or notice, and the parts that it is about.
type text struct {
	content  string
	licenses []string // empty: a notice
	of       []string
}

// Write returns the parts, with their licenses and notices. Each text appears once. A part without a known license is an error.
func Write(parts []Part) (string, error) {
	var out strings.Builder
	out.WriteString("This program contains the work of others, listed here with its licenses and notices.\n" +
		"\"go mod download NAME@VERSION\" gets the source of a module, also of one under the MPL.\n\n")
	texts := map[string]*text{}
	var errs []error
	parts = slices.SortedFunc(slices.Values(parts), func(a, b Part) int { return cmp.Compare(a.Name, b.Name) })
	for i := range parts {
		licenses, err := parts[i].collect(texts)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		fmt.Fprintf(&out, "%s %s: %s\n", parts[i].Name, parts[i].Version, strings.Join(licenses, ", "))
	}
	for _, t := range slices.SortedFunc(maps.Values(texts), func(a, b *text) int { return cmp.Or(cmp.Compare(a.of[0], b.of[0]), cmp.Compare(a.content, b.content)) }) {
		kind := "Notice"
		if len(t.licenses) > 0 {
			kind = "License (" + strings.Join(t.licenses, ", ") + ")"
		}
		fmt.Fprintf(&out, "\n%s\n%s of:\n  %s\n\n%s\n", strings.Repeat("=", 80), kind, strings.Join(t.of, "\n  "), t.content)
	}
	return out.String(), errors.Join(errs...)
}

var (
	licenseName = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|copyright)([._-]\w+)*$`)
	otherName   = regexp.MustCompile(`(?i)\.(go|docs)$`) // code about licenses, and the license of documents
	noticeName  = regexp.MustCompile(`(?i)^(notice|patents)([._-]\w+)*$`)
)

// collect adds the texts of a part, which are in the folders of its packages and above, and returns its licenses.
func (p *Part) collect(texts map[string]*text) (licenses []string, err error) {
	for _, folder := range p.withParents() {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", p.Name, p.Version, err)
		}
		for _, entry := range entries {
			isLicense := licenseName.MatchString(entry.Name())
			if entry.IsDir() || otherName.MatchString(entry.Name()) || !isLicense && !noticeName.MatchString(entry.Name()) {
				continue
			}
			path := filepath.Join(folder, entry.Name())
			content, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			var found []string
			if isLicense {
				if found = recognize(string(content)); len(found) == 0 {
					return nil, fmt.Errorf("%s %s: unknown license in %s: read it, and add it to known in tools/release/internal/notices if Weft may ship it", p.Name, p.Version, path)
				}
			}
			licenses = append(licenses, found...)
			name, err := filepath.Rel(p.root, path)
			if err != nil {
				return nil, err
			}
			key := strings.TrimSpace(string(content))
			if texts[key] == nil {
				texts[key] = &text{content: key, licenses: found}
			}
			texts[key].of = append(texts[key].of, p.Name+" "+p.Version+", "+filepath.ToSlash(name))
		}
	}
	if len(licenses) == 0 {
		return nil, fmt.Errorf("%s %s: no license in %s: ask its authors, or do without it", p.Name, p.Version, p.root)
	}
	slices.Sort(licenses)
	return slices.Compact(licenses), nil
}

// withParents returns the folders, and those above them up to the root.
func (p *Part) withParents() []string {
	all := map[string]bool{p.root: true}
	for _, folder := range p.folders {
		for ; !all[folder] && strings.HasPrefix(folder, p.root); folder = filepath.Dir(folder) {
			all[folder] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// known has what only the text of a license says, in lower case and without punctuation, for each license that Weft may ship.
var known = []struct{ name, says string }{
	{"Apache-2.0", "apache license version 2 0 january 2004"},
	{"Apache-2.0", "licensed under the apache license version 2 0 the license"},
	{"BSD", "redistribution and use in source and binary forms with or without modification are permitted provided that the following conditions are met"},
	{"ISC", "permission to use copy modify and or distribute this software for any purpose with or without fee is hereby granted"},
	{"MIT", "permission is hereby granted free of charge to any person obtaining a copy of this software and associated documentation files"},
	{"MPL-2.0", "mozilla public license version 2 0"},
}

var words = regexp.MustCompile(`[a-z0-9]+`)

// recognize returns the licenses in a text; it may have several.
func recognize(content string) (names []string) {
	plain := strings.Join(words.FindAllString(strings.ToLower(content), -1), " ")
	for _, license := range known {
		if strings.Contains(plain, license.says) {
			names = append(names, license.name)
		}
	}
	return slices.Compact(names)
}
