// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package notices

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	mit = "Permission is hereby granted, free of charge, to any person obtaining a copy of\nthis software and associated documentation files (…)\n"
	bsd = "Redistribution and use in source and binary forms, with or without modification,\nare permitted provided that the following conditions are met: (…)\n"
)

func part(t *testing.T, name string, files map[string]string, folders ...string) Part {
	t.Helper()
	p := Part{Name: name, Version: "v1", root: t.TempDir()}
	for file, content := range files {
		path := filepath.Join(p.root, file)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	for _, folder := range folders {
		p.folders = append(p.folders, filepath.Join(p.root, folder))
	}
	return p
}

// Each text appears once, also those of linked folders, and none of others.
func TestWrite(t *testing.T) {
	written, err := Write([]Part{
		part(t, "b", map[string]string{"LICENSE.md": mit, "license.go": "package b", "in/COPYING": bsd, "in/deep/x.go": "", "other/LICENSE": "not linked"}, ".", "in/deep"),
		part(t, "a", map[string]string{"LICENCE": mit, "NOTICE": "a is by A.\n"}, "."),
	})
	require.NoError(t, err)
	line := "\n" + strings.Repeat("=", 80) + "\n"
	assert.Equal(t, `This program contains the work of others, listed here with its licenses and notices.
"go mod download NAME@VERSION" gets the source of a module, also of one under the MPL.

a v1: MIT
b v1: BSD, MIT
`+line+"License (MIT) of:\n  a v1, LICENCE\n  b v1, LICENSE.md\n\n"+mit+line+"Notice of:\n  a v1, NOTICE\n\na is by A.\n"+
		line+"License (BSD) of:\n  b v1, in/COPYING\n\n"+bsd, written)
}

func TestUnknownLicensesFail(t *testing.T) {
	_, err := Write([]Part{
		part(t, "known", map[string]string{"LICENSE": mit}),
		part(t, "none", map[string]string{"NOTICE": "free"}),
		part(t, "unknown", map[string]string{"LICENSE": mit, "in/LICENSE": "GNU General Public License"}, "in"),
	})
	require.ErrorContains(t, err, "none v1: no license in ")
	require.ErrorContains(t, err, "unknown v1: unknown license in ")
	assert.NotContains(t, err.Error(), "known v1: no")
}

// The page's package is in what contains the page, and Go's library in all.
func TestPartsOfProgramsOfThisRepository(t *testing.T) {
	root, err := filepath.Abs("../../../..")
	require.NoError(t, err)
	names := func(dir, path string) (names []string) {
		parts, err := Of(root, Package{Dir: filepath.Join(root, dir), Path: path, System: "linux", Processor: "amd64"})
		require.NoError(t, err)
		for i := range parts {
			names = append(names, parts[i].Name)
		}
		return names
	}
	assert.Equal(t, []string{"Go"}, names("tools/release", "./agentcopy"))
	assert.Equal(t, []string{"Go", "npm preact"}, names(".", "./web"))
	assert.Subset(t, names(".", "./cmd/weft"), []string{"Go", "npm preact", "github.com/spf13/cobra", "go.uber.org/zap"})
}
