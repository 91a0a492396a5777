package incident

import (
	"fmt"
	"strconv"
	"strings"

	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier/cm"
)

// nearPorts is how far apart two ports are at most of which one is likely to be taken for the other.
const nearPorts = 16

// servedElse says for which other services a host that refuses one, as no program listens, accepted connections of other clients; not where it
// accepted any for the one that it refuses.
func (t *teller) servedElse(i *Incident, r *cm.Refusal) {
	var list []*rule.Finding // the first of each service
	n, clients := map[string]uint64{}, map[string]map[packet.Addr]bool{}
	for _, f := range t.accepted(i.Peer.Addr) {
		switch {
		case f.Detail == r.Service:
			return
		case f.Detail == "" || f.Accused.Addr == i.Local.Addr:
			continue
		case n[f.Detail] == 0:
			list, clients[f.Detail] = append(list, f), map[packet.Addr]bool{}
		}
		n[f.Detail]++
		clients[f.Detail][f.Accused.Addr] = true
	}
	if len(list) == 0 || len(list) > mostClassNames {
		return
	}
	var said []string
	for _, f := range list {
		by := f.Accused.Addr.String()
		if m := len(clients[f.Detail]); m > 1 {
			by = count(uint64(m), "host")
		}
		said = append(said, fmt.Sprintf("%s (%s of %s, the first in frame %d)", f.Detail, count(n[f.Detail], "connection"), by, f.Frame))
		if f.Tap == i.Tap {
			i.show(f.Frame)
		}
	}
	i.fact("accepts", fmt.Sprintf("%v accepted others for %s", i.Peer.Addr, enumerate(said)))
	if f := list[0]; len(list) == 1 && near(f.Detail, r.Service) {
		i.FitsWith = append([]string{fmt.Sprintf("a client that asks for the wrong port: perhaps it is to ask for %s", f.Detail)}, i.FitsWith...)
		which := fmt.Sprintf("which port %v is told to connect to, and which one is configured on %v for it", i.Local.Addr, i.Peer.Addr)
		i.Next = append([]string{which}, i.Next...)
	}
}

// near reports whether two services are ports that differ by little.
func near(a, b string) bool {
	const tcp = "TCP port "
	x, errX := strconv.Atoi(strings.TrimPrefix(a, tcp))
	y, errY := strconv.Atoi(strings.TrimPrefix(b, tcp))
	return errX == nil && errY == nil && max(x, y)-min(x, y) < nearPorts
}
