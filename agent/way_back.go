package agent

import (
	"ibwitness/agent/internal/connection"
	"ibwitness/packet"
	"ibwitness/verifier/cm"
)

// waysBack finds, of each REP that went to another Ethernet address than its REQ came from, a host to which packets go by the latter: the first by
// address. There is none where those to another host go to the former, which passes them on.
func waysBack(list []cm.Unanswered, hosts []*connection.Host) {
	for n := range list {
		if q := &list[n]; q.Went != 0 {
			q.Beside = wayBack(q, hosts)
		}
	}
}

func wayBack(q *cm.Unanswered, hosts []*connection.Host) (found packet.Addr) {
	for _, h := range hosts {
		way := h.Way(0)
		for at, to := range h.Stations() {
			from := way[0]
			if from == to {
				from = way[1]
			}
			switch {
			case from != q.From || to == q.To || to == from:
			case at == q.Went:
				return packet.Addr{}
			case at == q.Came && (found.IsZero() || to.Compare(found) < 0):
				found = to
			}
		}
	}
	return found
}
