// Package guard keeps what serves the page and the metrics from harm: by pages of other sites that a browser shows, and by clients that hold connections.
package guard

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

const (
	// mostClients is how many connections there are at a time.
	mostClients = 256
	// spare are the descriptors that are kept for everything else: rings, the log, files of packets.
	spare = 64
	// idle is how long a connection may be silent between two requests, slow how long an answer may take, but for a stream of events.
	idle, slow = time.Minute, 2 * time.Minute
)

// Listener limits how many clients are connected to l at a time, so that the program does not run out of descriptors: one more takes the place of the one
// that has been silent longest.
func Listener(l net.Listener) net.Listener {
	return limit(l, clients(descriptors()))
}

// clients is how many of them a process that may have so many descriptors serves at a time.
func clients(descriptors uint64) int {
	return int(min(mostClients, max(4, descriptors-min(descriptors, spare))))
}

// Server serves what h does, to clients that are slow for some time only, and that address it as one of: an IP address, localhost, the name of this
// machine, with or without a domain, or the names that are given.
func Server(h http.Handler, names ...string) *http.Server {
	if own, err := os.Hostname(); err == nil {
		names = append(names, own)
	}
	return &http.Server{
		Handler: addressed(h, names), ReadHeaderTimeout: 10 * time.Second, WriteTimeout: slow, IdleTimeout: idle, MaxHeaderBytes: 64 << 10,
	}
}

// addressed refuses requests whose Host is another one. A page of another site can have a browser ask for anything at a name of that site, and have that
// name resolve to this machine (DNS rebinding): what it asks for then has that name as its Host.
func addressed(h http.Handler, names []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !known(r.Host, names) {
			http.Error(w, fmt.Sprintf("ibwitness: this is not %q: ask for it by IP address, or name it in --listen", r.Host), http.StatusMisdirectedRequest)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// known reports whether a Host, with or without port, is an address of this machine or one of the names.
func known(host string, names []string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	ip, _, _ := strings.Cut(host, "%")
	if host == "localhost" || net.ParseIP(ip) != nil {
		return true
	}
	for _, n := range names {
		n = strings.ToLower(n)
		short, _, _ := strings.Cut(n, ".")
		if host == n || host == short || short == n && strings.HasPrefix(host, n+".") {
			return n != ""
		}
	}
	return false
}
