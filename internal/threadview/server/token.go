// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"crypto/subtle"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/viewapi"
)

// Protected lets in only clients that know the token, since all users of a machine can connect to its loopback addresses. The first address of
// the page is /?token=TOKEN: a browser gets a cookie for it, and goes on to the page. Programs send "Authorization: Bearer TOKEN".
func Protected(page http.Handler, token string) http.Handler {
	is := func(word string) bool { return subtle.ConstantTimeCompare([]byte(word), []byte(token)) == 1 }
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cookie := cookieName(r)
		bearer, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		atPage := r.URL.Path == "/" && r.Method == http.MethodGet
		switch {
		case atPage && is(r.URL.Query().Get("token")):
			//nolint:gosec // not Secure: there is no TLS on a loopback address
			http.SetCookie(w, &http.Cookie{Name: cookie, Value: token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
			w.Header().Set("Location", "/")
			reply(w, http.StatusSeeOther, "text/plain; charset=utf-8", "")
		case is(bearer), slices.ContainsFunc(r.CookiesNamed(cookie), func(c *http.Cookie) bool { return is(c.Value) }):
			page.ServeHTTP(w, r)
		case atPage && r.Header.Get("Sec-Fetch-Site") == "cross-site": // a file or another site links here, so the browser keeps the cookie back
			w.Header().Set("Refresh", "0; url=/")
			reply(w, http.StatusOK, "text/plain; charset=utf-8", "The page opens.\n")
		default:
			refuse(w, r)
		}
	})
}

// cookieName contains the port, because a browser sends the cookies of a host to all of its ports.
func cookieName(r *http.Request) string {
	_, port, _ := net.SplitHostPort(r.Host)
	return "weft-" + port
}

// refuse says how to get in.
func refuse(w http.ResponseWriter, r *http.Request) {
	const remedy = "the token is missing or wrong: open the whole address that weft view printed, or send its token as Authorization: Bearer TOKEN"
	w.Header().Set("WWW-Authenticate", "Bearer")
	if body, err := json.Marshal(viewapi.Error{Error: remedy}); err == nil && strings.HasPrefix(r.URL.Path, "/api/") {
		reply(w, http.StatusUnauthorized, "application/json", string(body)+"\n")
		return
	}
	reply(w, http.StatusUnauthorized, "text/plain; charset=utf-8", "weft: "+remedy+"\n")
}

func reply(w http.ResponseWriter, status int, contentType, body string) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}
