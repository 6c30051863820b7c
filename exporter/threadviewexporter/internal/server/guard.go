// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// policy lets the page use nothing but its own files and its own server. Pictures that it saves are blobs.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// guard refuses what comes from other pages, and tells browsers to be careful.
//
// A page of somebody else can make a browser ask this server, if only its name leads here (DNS rebinding): so the name that the browser was told, in Host, must
// be one that nobody else can own: an address, localhost, or one that the configuration names.
func (v *View) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		switch {
		case !v.knows(r.Host):
			v.fail(w, problem(http.StatusForbidden, "this server is not called %s; if it is, add that to allowed_hosts", shorten(r.Host)))
		case foreign(r):
			v.fail(w, problem(http.StatusForbidden, "requests of other pages are not answered"))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// knows reports whether a host is this server and nobody else.
func (v *View) knows(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return true
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || slices.ContainsFunc(v.cfg.Hosts, func(h string) bool { return strings.EqualFold(h, host) })
}

// foreign reports whether a request was made by the page of another origin. Following a link to the page is not.
func foreign(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		return err != nil || !strings.EqualFold(u.Host, r.Host)
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return false
	}
	return r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Method != http.MethodGet
}
