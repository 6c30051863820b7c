// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/ulikunitz/xz"
)

// packed returns data as a writer of a library compresses it.
func packed[W io.WriteCloser](t *testing.T, writer func(io.Writer) (W, error), data string) string {
	t.Helper()
	var b bytes.Buffer
	w, err := writer(&b)
	require.NoError(t, err)
	_, err = io.WriteString(w, data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

func gzipped(t *testing.T, data string) string {
	t.Helper()
	return packed(t, func(w io.Writer) (*gzip.Writer, error) { return gzip.NewWriter(w), nil }, data)
}

// zipped returns a zip archive with pairs of names and contents.
func zipped(t *testing.T, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i])
		require.NoError(t, err)
		_, err = io.WriteString(w, files[i+1])
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.String()
}

func tarred(t *testing.T, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: files[i], Size: int64(len(files[i+1])), Mode: 0o600, Format: tar.FormatUSTAR}))
		_, err := io.WriteString(w, files[i+1])
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.String()
}

const (
	png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
)

// Each kind of file has one line, which says what it is and what to do, and ends with exit code 1.
func TestFilesThatAreNoRecordings(t *testing.T) {
	var pprof bytes.Buffer
	require.NoError(t, (&profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "ns"}}}).Write(&pprof))
	trace := filepath.Join(t.TempDir(), "x.pftrace")
	code, _, stderr := run(t, "", "convert", checkout, trace)
	require.Equal(t, exitOK, code, stderr)
	perfetto, err := os.ReadFile(trace)
	require.NoError(t, err)
	elf := func(kind byte) string {
		return "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + string([]byte{kind, 0, 0x3e, 0})
	}
	const onlyJVMs = "weft reads recordings and thread dumps of JVMs"
	for name, test := range map[string]struct{ data, want string }{
		"empty":          {"", "FILE: the recording is empty: nothing has been written yet, or the writer was killed"},
		"heap dump":      {"JAVA PROFILE 1.0.2\x00\x00\x00\x00\x08", "FILE: this is a heap dump; it has objects and no waits: for waits, take thread dumps (jstack PID) or a flight recording (jcmd PID JFR.start)"},
		"pprof":          {pprof.String(), "FILE: this is a pprof profile; it has sums and no single waits: for waits, "},
		"Perfetto":       {string(perfetto), "FILE: this is a Perfetto trace; weft writes such files and does not read them"},
		"Chrome":         {`{"traceEvents":[{"ph":"X"}]}`, "FILE: this is a trace for the viewer of Chrome; " + onlyJVMs},
		"Chrome's array": {`[{"name":"a","ph":"X"}]`, "FILE: this is a trace for the viewer of Chrome; " + onlyJVMs},
		"Go trace":       {"go 1.23 trace\x00\x00\x00", "FILE: this is an execution trace of Go; " + onlyJVMs},
		"goroutines":     {"goroutine 1 [running]:\nmain.main()\n", "FILE: this is a dump of goroutines; " + onlyJVMs},
		"nettrace":       {"Nettrace\x14\x00\x00\x00!FastSerialization.1", "FILE: this is a trace of .NET; " + onlyJVMs},
		"core":           {elf(4), "FILE: this is a core dump; get a thread dump out of it: jhsdb jstack --exe JAVA --core FILE"},
		"program":        {elf(3), "FILE: this is a program or library; " + onlyJVMs},
		"class":          {"\xca\xfe\xba\xbe\x00\x00\x00\x3d", "FILE: this is a Java class; " + onlyJVMs},
		"jar":            {zipped(t, "META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n", "A.class", "\xca\xfe\xba\xbe\x00"), "FILE: this is a jar; " + onlyJVMs},
		"PDF":            {"%PDF-1.7\n", "FILE: this is a PDF document; " + onlyJVMs},
		"PNG":            {png, "FILE: this is a picture; a picture of a thread dump cannot be read: give the text"},
		"web page":       {"\n<!DOCTYPE html>\n<html>", "FILE: this is a web page; download the file itself"},
		"7z":             {"7z\xbc\xaf\x27\x1c\x00\x04", "FILE: this is a 7z archive; unpack it, and give the files in it"},
		"text":           {"INFO started\n", "FILE: (byte 0): no thread dump in this text; want the output of jstack, "},
		"JSON":           {`{"a":1}`, `FILE: this is JSON, but neither spans nor a thread dump; want {"resourceSpans": at its start`},
		"noise":          {"\x01\x02\x03\x04\x05", `FILE: unknown recording format: the file starts with "\x01\x02\x03\x04\x05"; ` + onlyJVMs},
		"zip in a zip":   {zipped(t, "b.zip", zipped(t, "a.orca", "1.5,ThreadStarted,0000000A,worker\n")), "FILE has no recording and no thread dump: b.zip (a zip archive)"},
		"empty zip":      {zipped(t), "FILE has no recording and no thread dump: it is empty"},
		"half a zip":     {zipped(t, "a.orca", "1.5,ThreadStarted,0000000A,worker\n")[:50], "FILE: the zip archive is truncated or damaged; copy it again, in binary mode"},
		"half a gzip":    {gzipped(t, "FLR\x00")[:5], "FILE: cannot decompress beyond byte 0: the file is truncated or damaged; copy it again, in binary mode"},
		"moment":         {"1.5,ThreadStarted,0000000A,worker\n", "the recording has no two events at different times, so there is nothing to explain"},
		"half a header":  {"FLR\x00\x00\x02", "FILE: (byte 0): truncated chunk header: want 68 bytes, have 6; skipping 6 bytes"},
		"old recording":  {"FLR\x00\x00\x00\x00\x09" + strings.Repeat("\x00", 60), "FILE: (byte 0): unknown format version 0.9: "},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x")
			require.NoError(t, os.WriteFile(file, []byte(test.data), 0o600))
			for _, command := range []string{"summary", "view", "why"} {
				if command == "view" && name == "moment" { // which it shows
					continue
				}
				code, stdout, stderr := run(t, "", command, file)
				assert.Equal(t, exitFailed, code)
				assert.Empty(t, stdout)
				first, rest, _ := strings.Cut(strings.ReplaceAll(stderr, file, "FILE"), "\n")
				assert.True(t, strings.HasPrefix(first, "weft: "+command+": "+test.want), first)
				assert.Empty(t, rest)
				assert.NotRegexp(t, `EOF|invalid character|proto:|json:|gzip:|zstd|strconv|\*\w+\.`, stderr)
			}
		})
	}
}

// However a recording is packed, it is the same.
func TestPackedRecordings(t *testing.T) {
	const text = "1.0,ThreadStarted,00000001,main\n2.0,ThreadSleep,00000001,0\n4.0,ThreadSlept,00000001,0\n5.0,ThreadEnded,00000001\n"
	compress := func(w io.Writer) (*lz4.Writer, error) { return lz4.NewWriter(w), nil }
	_, want, _ := run(t, text, "summary", "-")
	require.Contains(t, want, "sleeping")
	for name, data := range map[string]string{
		"plain":             text,
		"gzip":              gzipped(t, text),
		"zstd":              packed(t, func(w io.Writer) (*zstd.Encoder, error) { return zstd.NewWriter(w) }, text),
		"lz4":               packed(t, compress, text),
		"xz":                packed(t, xz.NewWriter, text),
		"zip":               zipped(t, "a.orca", text),
		"compressed in zip": zipped(t, "logs/a.orca.lz4", packed(t, compress, text)),
		"with other files":  zipped(t, "a.orca", text, "shot.png", png, "__MACOSX/._a.orca", "\x00\x05\x16\x07", "README.md", "# Steps\n"),
		"tar":               tarred(t, "a.orca", text),
		"tar.gz":            gzipped(t, tarred(t, "a.orca", text)),
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x")
			require.NoError(t, os.WriteFile(file, []byte(data), 0o600))
			code, stdout, stderr := run(t, "", "summary", file)
			assert.Equal(t, exitOK, code)
			assert.Equal(t, want, stdout)
			note := ""
			if name == "with other files" {
				note = "weft: " + file + ": 1 recording is read, 2 other files are not: shot.png (a picture), README.md (text without a thread dump)\n"
			}
			assert.Equal(t, note, stderr)
			out := filepath.Join(t.TempDir(), "x.orca")
			code, _, stderr = run(t, "", "convert", file, out)
			require.Equal(t, exitOK, code, stderr)
			converted, err := os.ReadFile(out)
			require.NoError(t, err)
			assert.Contains(t, string(converted), "ThreadSleep,00000001")
		})
	}
}

func TestFolders(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	dumps := threads{reads, asks}
	write("1.txt", dumps.at(0))
	write("more.zip", zipped(t, "2.txt", dumps.at(10), "notes.txt", "nothing\n"))
	write("logs/app.log", strings.Repeat("INFO order taken\n", 10_000)+dumps.at(20))
	write(".git/config", "x")
	write("x.bin", "\x01")
	write("only.zip", zipped(t, "notes.txt", "nothing\n"))
	code, stdout, stderr := run(t, "", "summary", dir)
	assert.Equal(t, exitOK, code)
	assert.Contains(t, stdout, "In 3 of 3 dumps over 20 s, ")
	assert.Equal(t, "weft: "+filepath.Join(dir, "more.zip")+": 1 recording is read, 1 other file is not: notes.txt (text without a thread dump)\n"+
		"weft: "+dir+": 3 recordings are read, 2 other files are not: only.zip (an archive without recordings), x.bin (unknown)\n", stderr)
	damaged := zipped(t, "3.txt", dumps.at(30))
	write("damaged.zip", damaged[:len(damaged)-30])
	code, stdout, stderr = run(t, "", "summary", dir)
	assert.Equal(t, exitFailed, code, "something is missing")
	assert.Contains(t, stdout, "In 3 of 3 dumps over 20 s, ")
	assert.Contains(t, stderr, "\nweft: summary: "+filepath.Join(dir, "damaged.zip")+": the zip archive is truncated or damaged; copy it again, in binary mode\n")
}

// A link to a folder is that folder. In one, links to files are files, and others are not followed.
func TestLinks(t *testing.T) {
	const text = "1.0,ThreadStarted,00000001,main\n2.0,ThreadSleep,00000001,0\n4.0,ThreadSlept,00000001,0\n5.0,ThreadEnded,00000001\n"
	top := t.TempDir()
	dir, link, a := filepath.Join(top, "dir"), filepath.Join(top, "link"), filepath.Join(top, "a.orca")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.WriteFile(a, []byte(text), 0o600))
	_, want, _ := run(t, "", "summary", a)
	for name, target := range map[string]string{"dir/latest.orca": a, "dir/back": dir, "dir/gone": "nowhere", "link": dir} {
		require.NoError(t, os.Symlink(target, filepath.Join(top, name)))
	}
	code, stdout, stderr := run(t, "", "summary", link)
	assert.Equal(t, exitOK, code)
	assert.Equal(t, want, stdout)
	assert.Equal(t, "weft: "+link+": 1 recording is read, 2 other files are not: back (a link, not to a file), gone (a link, not to a file)\n", stderr)
}

func TestBombs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.zip")
	many := make([]string, 0, 2002)
	for range 1001 {
		many = append(many, "a", "")
	}
	require.NoError(t, os.WriteFile(file, []byte(zipped(t, many...)), 0o600))
	code, _, stderr := run(t, "", "summary", file)
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stderr, ": the archive has more than 1000 files; unpack it, and give those that matter")
}
