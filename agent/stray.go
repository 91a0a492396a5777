package agent

import (
	"ibwitness/packet"
	"ibwitness/verifier"
)

// watched is up to how many connections of a pair of hosts are looked at when a packet names a QP that nothing is known of.
const watched = 64

// watch notes a new connection of a pair of hosts.
func (t *Transport) watch(host, i uint32) {
	if l := &t.hosts.list[host].connections; len(*l) <= watched {
		*l = append(*l, i)
	}
}

// stray looks at the first packet to an unknown QP: it may belong to another QP of the host.
func (t *Transport) stray(c *connection, p *packet.Packet, host, dir uint32) {
	list := t.hosts.list[host].connections
	if len(list) > watched {
		return
	}
	request := p.Info().Request
	lines := &t.ahead.lines
	for _, i := range list { // while many connections are new, none of this is in the cache
		pair(t.pairs.at(i)).FetchNext(request, lines)
	}
	lines.Fetch()
	for _, i := range list {
		k := t.pairs.at(i)
		if request && !k.Next(p.PSN) || !request && !k.Paired {
			continue // as most do: the rest need not be read
		}
		if k == c || k.dead || k.Service != c.Service {
			continue
		}
		from := 0
		if k.Ends[1].Addr == p.Src && k.Ends[0].Addr != p.Src {
			from = 1
		}
		if !verifier.Expects(&k.Pair, from, p) {
			continue
		}
		b := *p
		b.Payload, b.Pad, b.Data = nil, nil, nil
		if request {
			k.Missent = &b
		} else if c.misdirected == nil {
			c.misdirected, c.rightful, k.kept = &b, i<<1|uint32(from), true
			k.Ends[from].SQ.Excused = true // the response that will be missing
		}
		return
	}
}

// misdirections judges, at the end, responses that went to QPs that nothing else was ever sent to.
func (t *Transport) misdirections() {
	for i := range t.pairs.n {
		c := t.pairs.at(i)
		if c.misdirected == nil || c.dead || c.Paired || c.Ends[0].Sums.Packets != 1 {
			continue
		}
		t.ver.Misdirected(&t.pairs.at(c.rightful>>1).Pair, int(c.rightful&1), c.misdirected)
	}
}
