package cli

import (
	"testing"

	"ibwitness/fabricagent/live"
	"ibwitness/internal/testkit/veth"
)

// TestWatchLibpcap: devices that libpcap has opened are watched, without privileges; a program that has no libpcap says what it lacks.
func TestWatchLibpcap(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	p := start(t, "watch", "-i", "right", "--promiscuous", "--listen", "127.0.0.1:9846", "--libpcap")
	if !live.Libpcap {
		p.logs("built without libpcap: build it with -tags libpcap")
		return
	}
	p.logs("watching")
	replayFile(t, naks, "left")
	p.tell("127.0.0.1:9846", `ibwitness_packets_total{class="send",service="RC"} 16`)
	for i, got := range threads(t, p.Process.Pid, "CapEff") {
		if got != "0000000000000000" {
			t.Errorf("CapEff of thread %d is %s", i, got)
		}
	}
	p.stop()
}
