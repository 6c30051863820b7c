// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/weft-otel/weft/internal/printable"
)

// usualPage is the default address of the page.
const usualPage = "localhost:8090"

// page is the web page of the collector.
type page struct{ address string }

// newPage chooses an address: the default one if it is free.
func newPage() (page, error) {
	if l, err := net.Listen("tcp", usualPage); err == nil { //nolint:noctx // returns at once
		return page{usualPage}, l.Close()
	}
	address, err := freeAddress()
	return page{address}, err
}

// hottest waits until the page has all events of the exchange, and returns the lock class with the most blocked time, and that time.
func (p page) hottest(ctx context.Context) (class string, blocked time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		var list struct {
			Sessions []struct {
				ID   string `json:"id"`
				Live bool   `json:"live"`
			} `json:"sessions"`
		}
		if err := p.get(ctx, "sessions", &list); err != nil {
			return "", 0, err
		}
		if len(list.Sessions) > 0 && !list.Sessions[0].Live {
			return p.hottestOf(ctx, list.Sessions[0].ID)
		}
		select {
		case <-ctx.Done():
			return "", 0, fmt.Errorf("the page does not show the exchange: %w", ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (p page) hottestOf(ctx context.Context, session string) (class string, blocked time.Duration, err error) {
	var table struct {
		Classes []struct {
			Class   string `json:"class"`
			Blocked struct {
				Time time.Duration `json:"time"`
			} `json:"blocked"`
		} `json:"classes"`
	}
	if err := p.get(ctx, "sessions/"+session+"/classes?sort=blocked.time", &table); err != nil {
		return "", 0, err
	}
	if len(table.Classes) == 0 {
		return "", 0, errors.New("the page shows no lock of the exchange")
	}
	return table.Classes[0].Class, table.Classes[0].Blocked.Time, nil
}

func (p page) get(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.address+"/api/"+path, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // read only
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the page's %s: %s", path, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(into)
}

// show prints the address and leaves the collector running for the user.
func (p page) show(ctx context.Context, collector *program, class string, blocked time.Duration) error {
	fmt.Printf("\nThe page shows the same: threads were blocked on %s for %v in total.\n", printable.Text(class), blocked.Round(time.Millisecond))
	if os.Getenv("DEMO_ONCE") != "" {
		fmt.Println("The page was stopped: there is no terminal, or DEMO_ONCE is set.")
		return nil
	}
	fmt.Printf("\n  http://%s/\n\nPress Ctrl-C to stop it.\n", p.address)
	select {
	case <-ctx.Done():
		return nil
	case err := <-collector.ended:
		collector.done = true
		return fmt.Errorf("build/weft-collector ended: %w\n%s", err, collector.tail())
	}
}

// written waits until the spans of the session's last window are in the file.
func written(ctx context.Context, spans string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		text, err := os.ReadFile(spans)
		if err == nil && bytes.HasSuffix(text, []byte("\n")) && bytes.Contains(text, []byte(`"weft.window.cut","value":{"stringValue":"end"}`)) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s does not contain the end of the session: %w", spans, errors.Join(ctx.Err(), err))
		case <-time.After(50 * time.Millisecond):
		}
	}
}
