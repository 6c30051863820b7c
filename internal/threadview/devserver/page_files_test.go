// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package main_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/browser"
)

func TestTablesAreExported(t *testing.T) {
	t.Parallel()
	p := open(t, "s="+finished+"&tab=monitors")
	p.Until(`document.querySelectorAll("[data-table=classes] tbody tr").length > 1`)
	p.Click("[data-table=classes] .menu button")
	p.Until(`document.querySelectorAll("[data-table=classes] .popup a").length === 2`)
	for i, kind := range []string{"text/csv", "application/json"} {
		address := browser.Eval[string](p, fmt.Sprintf(`document.querySelectorAll("[data-table=classes] .popup a")[%d].href`, i))
		response, err := http.Get(address)
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, http.StatusOK, response.StatusCode, "%s: %s", address, body)
		assert.Contains(t, response.Header.Get("Content-Type"), kind)
		assert.Contains(t, string(body), "OrderBook")
	}
}

func TestDownloads(t *testing.T) {
	t.Parallel()
	p := open(t, "s="+finished+"&tab=sessions")
	p.Until(`document.querySelectorAll(".downloads a").length === 3`)
	for _, format := range []string{"native", "otlp", "perfetto"} {
		address := browser.Eval[string](p, `document.querySelector(".downloads a[href*=`+format+`]").href`)
		response, err := http.Get(address)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, http.StatusOK, response.StatusCode, address)
		assert.Contains(t, response.Header.Get("Content-Disposition"), "attachment", address)
	}
}
