// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/weft-otel/weft/internal/page"
	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/viewapi"
)

const (
	maxID         = 1 << 53 // the largest that the page accepts
	maxCandidates = 5       // that an error lists
)

// Thread finds the thread that a person means: by its ID, by its name, or by a part of the name that no other thread has.
func Thread(ctx context.Context, c *page.Client, session, text string) (viewapi.ThreadRef, error) {
	if text == "" {
		return viewapi.ThreadRef{}, errors.New("thread: want a name or an ID")
	}
	name := regexp.QuoteMeta(text)
	tries := []page.Query{{"name": {"^" + name + "$"}}, {"name": {name}}}
	if id, err := strconv.ParseUint(text, 10, 64); err == nil && id <= maxID {
		tries = append([]page.Query{{"threads": {text}}}, tries...)
	}
	for _, q := range tries {
		q.Set("limit", strconv.Itoa(maxCandidates))
		found, err := c.Threads(ctx, session, q)
		switch {
		case err != nil:
			return viewapi.ThreadRef{}, err
		case found.Total == 1 && len(found.Threads) == 1:
			return viewapi.ThreadRef{ID: found.Threads[0].ID, Name: found.Threads[0].Name}, nil
		case found.Total > 0:
			return viewapi.ThreadRef{}, several(text, &found)
		}
	}
	return viewapi.ThreadRef{}, fmt.Errorf("thread %q: not found; want an ID, a name, or a part of one", printable.Text(text))
}

// several is the error of a text that several threads match.
func several(text string, found *viewapi.Threads) error {
	var list []string
	for i := range found.Threads {
		t := &found.Threads[i]
		list = append(list, fmt.Sprintf("%s (ID %d)", printable.Text(t.Name), t.ID))
	}
	if more := found.Total - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return fmt.Errorf("thread %q: %d threads match: %s; give a whole name that only one has, or an ID",
		printable.Text(text), found.Total, strings.Join(list, ", "))
}
