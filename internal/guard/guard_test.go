package guard

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestHosts takes requests for this machine and refuses those for another site.
func TestHosts(t *testing.T) {
	names := []string{"node7", "watch.example.com", ""}
	for host, want := range map[string]int{
		"127.0.0.1:9846": 200, "[::1]:9846": 200, "[fe80::1%25eth0]:1": 200, "10.0.0.1": 200, "localhost": 200, "LOCALHOST:1": 200,
		"node7:9846": 200, "node7.dc.example.org": 200, "watch.example.com:80": 200, "watch": 200, "watch.example.com.": 200,
		"evil.example:9846": 421, "127.0.0.1.evil.example": 421, "localhost.evil.example": 421, "watch.example.com.evil": 421, "watch.evil": 421, "": 421, "node70": 421,
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = host
		w := httptest.NewRecorder()
		addressed(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }), names).ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%q: status %d, want %d", host, w.Code, want)
		}
	}
}

// TestClients leaves descriptors for the rest of the program.
func TestClients(t *testing.T) {
	for descriptors, want := range map[uint64]int{0: 4, 64: 4, 100: 36, 256: 192, 1024: 256, 1 << 62: 256} {
		if got := clients(descriptors); got != want {
			t.Errorf("of %d descriptors, %d clients, want %d", descriptors, got, want)
		}
	}
}
