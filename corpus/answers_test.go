// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/weft-otel/weft/cmd/weft/command"
	"github.com/weft-otel/weft/internal/page"
	"github.com/weft-otel/weft/internal/threadtest/golden"
)

// text is a golden file while it is written.
type text struct {
	names  []string
	bodies map[string]string
}

// add adds a section. Of a long one there are the first lines, and a hash of all.
func (t *text) add(name, body string) {
	const mostLines, mostBytes = 20, 2500
	body = strings.TrimRight(body, "\n") + "\n"
	var head string
	n, full := 0, false
	for line := range strings.Lines(body) {
		n++
		if full = full || n > mostLines || len(head)+len(line) > mostBytes; !full {
			head += line
		}
	}
	if full {
		head += fmt.Sprintf("… %d lines in all, SHA-256 %x\n", n, sha256.Sum256([]byte(body)))
	}
	t.names = append(t.names, name)
	t.bodies[name] = head
}

// answers returns all that Weft says about a recording: what users read first, then what programs get.
func (p *played) answers() (string, error) {
	out := &text{bodies: map[string]string{}}
	summary, err := p.summary()
	if err != nil {
		return "", err
	}
	out.add("weft summary", summary)
	why, err := weft("why", p.file)
	if err != nil {
		return "", err
	}
	out.add("weft why", why)
	if err := p.addPage(out); err != nil {
		return "", err
	}
	p.addSpans(out)
	out.add("metrics", p.metricLines())
	out.add("log records", p.logLines())
	counts, err := p.counterLines()
	if err != nil {
		return "", err
	}
	out.add("counters of components", counts)
	return golden.Join(out.names, out.bodies), nil
}

// summary is the answer of weft summary, with options.
func (p *played) summary(options ...string) (string, error) {
	return weft(slices.Concat([]string{"summary"}, options, []string{p.file})...)
}

// weft returns what a command prints.
func weft(args ...string) (string, error) {
	var out, problems bytes.Buffer
	code := command.Run("test", strings.NewReader(""), &out, &problems, args...)
	if code != 0 || problems.Len() > 0 {
		return "", fmt.Errorf("weft %s: exit code %d: %s", args[0], code, problems.String())
	}
	return out.String(), nil
}

// tables are those of the page, with the parameters of the request.
var tables = []struct{ name, parameters string }{
	{"threads", ""},
	{"locks", ""},
	{"holders", ""},
	{"classes", "&savings=true"},
	{"callers", ""},
	{"kinds", ""},
	{"path", ""},
	{"requests", ""},
}

// details are further answers of the page.
var details = []string{"answer", "incidents", "virtual", "pools"}

// addPage adds the tables of the page as its users download them, and what else it shows.
func (p *played) addPage(out *text) error {
	all, err := page.Of(p.page).Sessions(context.Background())
	if err != nil {
		return err
	}
	for i := range all.Sessions {
		path := "/api/sessions/" + all.Sessions[i].ID
		for _, table := range tables {
			body, err := p.get(path + "/export?format=csv&table=" + table.name + table.parameters)
			if err != nil {
				return err
			}
			out.add("page: "+table.name, body)
		}
		for _, what := range details {
			body, err := p.get(path + "/" + what)
			if err != nil {
				return err
			}
			if body, err = objectLines(body); err != nil {
				return err
			}
			out.add("page: "+what, body)
		}
	}
	return nil
}

// objectLines prints an object as a line for each value, and for each element of a value that is a list.
func objectLines(body string) (string, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &object); err != nil {
		return "", err
	}
	delete(object, "version") // counts changes, which depend on how the recording was cut into batches
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(object)) {
		var list []json.RawMessage
		if json.Unmarshal(object[key], &list) != nil || list == nil {
			list = []json.RawMessage{object[key]}
		}
		for _, value := range list {
			fmt.Fprintf(&b, "%s: %s\n", key, value)
		}
	}
	return b.String(), nil
}

// get returns the answer to a request.
func (p *played) get(path string) (string, error) {
	w := httptest.NewRecorder()
	p.page.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+path, http.NoBody))
	if w.Code != http.StatusOK {
		return "", fmt.Errorf("GET %s: %d: %s", path, w.Code, w.Body)
	}
	return w.Body.String(), nil
}
