// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/failure"
)

// files serves the page. Embedded files have fixed names and no dates, so browsers revalidate them by content.
func files(page fs.FS) http.Handler {
	tags := map[string]string{}
	_ = fs.WalkDir(page, ".", func(path string, _ fs.DirEntry, err error) error {
		if data, unread := fs.ReadFile(page, path); err == nil && unread == nil {
			tags[path] = contentTag(data)
		}
		return nil
	})
	server := http.FileServerFS(page)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		if tag, ok := tags[cmp.Or(strings.TrimPrefix(r.URL.Path, "/"), "index.html")]; ok {
			w.Header().Set("ETag", tag)
		}
		server.ServeHTTP(w, r)
	})
}

// contained answers a request with an error if its handler panics. A response that has begun ends without its rest, which clients notice.
func (v *View) contained(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) (wrong *Problem) {
		p := failure.Contain(func() { wrong = h(w, r) })
		if p == nil {
			return wrong
		}
		wrong = defect(v.cfg.Log, p)
		if w.Header().Get("Content-Type") != "" {
			panic(http.ErrAbortHandler)
		}
		return wrong
	}
}

// defect logs a panic, and returns what the client gets.
func defect(log func(message string, err error), p *failure.Panic) *Problem {
	log("A defect in Weft made a request of the page fail; please report it with this line", p)
	return problem(http.StatusInternalServerError, "a defect in Weft: %v; please report it with the line in the log of the server", p)
}

// policy allows the page only its own files and its own server. Pictures that it saves are blobs.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// guard refuses requests from other pages, and sets security headers.
//
// A foreign page can make a browser send requests here under a name that resolves to this server (DNS rebinding). Therefore Host must be a
// name that an attacker cannot own: an address, localhost, or a configured name.
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
			v.fail(w, problem(http.StatusForbidden, "unknown host name %s: if it is a name of this server, add it to allowed_hosts", shorten(r.Host)))
		case foreign(r):
			v.fail(w, problem(http.StatusForbidden, "cross-origin requests are not allowed"))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// knows reports whether a host can only be this server.
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

// foreign reports whether a request comes from a page of another origin. Following a link to the page is allowed.
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
