package incident

import (
	"strings"
	"testing"

	"ibwitness/packet"
)

// TestPeersFit: what fits one of the hosts that waited for a peer is not said twice where it fits as what they have in common.
func TestPeersFit(t *testing.T) {
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	waited := func(n byte, fits ...string) Incident {
		return Incident{Kind: Interrupted, Certainty: Proven, gone: goneFor, Local: Party{Addr: host(n)}, Peer: Party{Addr: host(9)}, Begin: 1, End: int64(n), Lost: 10, FitsWith: fits}
	}
	list := (&teller{}).peers([]Incident{waited(2, thatStopped(host(9)), "a path"), waited(3, hostStopped)})
	if len(list) != 1 {
		t.Fatalf("%d incidents", len(list))
	}
	if got := strings.Join(list[0].FitsWith, "; "); got != thatStopped(host(9))+": it is what they have in common; a path" {
		t.Error(got)
	}
}
