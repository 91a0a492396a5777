package cli

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"ibwitness/internal/testkit/veth"
)

// TestInterfaces: of two interfaces one that goes away is said in the log, by a metric and by /readyz, and so is that it came back, although the program
// has no privileges any more and several rings.
func TestInterfaces(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	const address = "127.0.0.1:9846"
	veth.IP(t, "link add other type veth peer name far")
	veth.IP(t, "link set other up")
	veth.IP(t, "link set far up")
	p := start(t, "watch", "-i", "other", "-i", "right", "--sockets", "2", "--listen", address)
	p.logs("watching")
	ready := func(want int, why string) {
		t.Helper()
		text := ""
		if !until(func() bool {
			r, err := http.Get("http://" + address + "/readyz")
			if err != nil {
				return false
			}
			defer r.Body.Close()
			b, _ := io.ReadAll(r.Body)
			text = string(b)
			return r.StatusCode == want && strings.Contains(text, why)
		}) {
			t.Errorf("/readyz says %q", text)
		}
	}
	ready(http.StatusOK, "ok")
	veth.IP(t, "link del right")
	p.logs("the interface is gone")
	p.tell(address, `ibwitness_capture_interface_up{interface="right"} 0`)
	p.tell(address, `ibwitness_capture_interface_up{interface="other"} 1`)
	ready(http.StatusServiceUnavailable, "interface right is gone")
	veth.IP(t, "link add left type veth peer name right")
	veth.IP(t, "link set left up")
	veth.Up(t)
	p.logs("the interface is back")
	p.tell(address, `ibwitness_capture_interface_up{interface="right"} 1`)
	ready(http.StatusOK, "ok")
	replayFile(t, naks, "left")
	p.tell(address, `ibwitness_packets_total{class="send",service="RC"} 16`)
	p.stop()
}
