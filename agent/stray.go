package agent

import (
	"slices"

	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier"
)

// watched is up to how many connections of a pair of hosts are looked at when a packet names a QP that nothing is known of.
const watched = 64

// watch notes a new connection of a pair of hosts, whose first end sends in a direction. Unpaired, its other end sends nothing.
func (t *Transport) watch(host, dir, i, paired uint32) {
	if l := &t.hosts.list[host].connections; len(l[0])+len(l[1]) <= watched {
		l[dir] = append(l[dir], i<<1|paired)
	}
}

// watchPaired notes that a connection is paired now.
func (t *Transport) watchPaired(host, dir, i uint32) {
	l := t.hosts.list[host].connections
	if len(l[0])+len(l[1]) > watched {
		return
	}
	if k := slices.Index(l[dir], i<<1); k >= 0 {
		l[dir][k] |= 1
	}
}

// stray looks at the first packet to an unknown QP: it may belong to another QP of the host.
func (t *Transport) stray(c *connection, id uint32, p *packet.Packet, host, dir uint32) {
	l := t.hosts.list[host].connections
	if len(l[0])+len(l[1]) > watched {
		return
	}
	i, from := t.expecting(l[dir], 0, c, p), 0
	if k := t.expecting(l[1-dir], 1, c, p); k < i {
		i, from = k, 1
	}
	if i == nobody {
		return
	}
	k := t.pairs.at(i)
	b := *p
	b.Payload, b.Pad, b.Data = nil, nil, nil
	if k.learned == ByPSN && k.Ends[0].Sums.Packets == 1 && from == 0 {
		k.rival, k.Sealed[1] = id+1, false
	}
	c.rightful = (i<<1 | uint32(from)) + 1
	if p.Info().Request {
		k.Missent, k.Ends[from].SQ.Usual = &b, false
	} else {
		c.misdirected, k.kept = &b, true
		verifier.Missing(&k.Pair, from, p)
	}
}

// rightful returns, in place of connection i, the one that its only packet belongs to, if that one has gone on: that packet went to a wrong QP.
func (t *Transport) rightful(i uint32, p *packet.Packet) uint32 {
	c := t.pairs.at(i)
	if c.rightful&1 == 0 || c.Ends[0].Sums.Packets != 1 { // none, or the other end
		return i
	}
	j := c.rightful >> 1
	if k := t.pairs.at(j); !k.dead && !k.Paired && k.Service == c.Service && k.Ends[0].SQ.Next.After(p.PSN) {
		return j
	}
	return i
}

const nobody = 1<<32 - 1

// expecting returns the first connection but c of which an end may send the packet next, or nobody.
func (t *Transport) expecting(list []uint32, from int, c *connection, p *packet.Packet) uint32 {
	request := p.Info().Request
	half := request && from == 0 // an unpaired connection will do
	lines := &t.ahead.lines
	for _, w := range list { // while many connections are new, none of this is in the cache
		if half || w&1 != 0 {
			pair(t.pairs.at(w>>1)).FetchNext(from, lines)
		}
	}
	lines.Fetch()
	for _, w := range list {
		if !half && w&1 == 0 {
			continue
		}
		k := t.pairs.at(w >> 1)
		if request && k.Ends[from].SQ.Next != p.PSN {
			continue // as most do: the rest need not be read
		}
		if k != c && !k.dead && k.Service == c.Service && verifier.Expects(&k.Pair, from, p) {
			return w >> 1
		}
	}
	return nobody
}

// misdirections judges, of the connections that leave, responses that went to QPs that nothing else was ever sent to.
func (t *Transport) misdirections() {
	for i := range t.pairs.n {
		c := t.pairs.at(i)
		if !c.leaving || c.misdirected == nil || c.dead || c.Paired || c.Ends[0].Sums.Packets != 1 {
			continue
		}
		way := c.rightful - 1
		t.ver.Misdirected(&t.pairs.at(way>>1).Pair, int(way&1), c.misdirected)
	}
}

// alive doubts that a request went to a wrong QP where that one, of a connection that leaves, goes on after it with packets of its own (rule BTH-011): one
// PSN after the other, rather than now and then one that strays too.
func (t *Transport) alive() {
	strays := map[uint64]int{} // findings by frame
	for i := range t.Rec.Findings {
		if f := &t.Rec.Findings[i]; f.Rule == rule.BTH011 && f.Class == rule.Violation {
			strays[f.Frame] = i
		}
	}
	if len(strays) == 0 {
		return
	}
	for k := range t.pairs.n {
		c := t.pairs.at(k)
		i, ok := strays[c.firstFrame]
		if !ok || !c.leaving || c.dead || c.firstTap != t.Rec.Findings[i].Tap {
			continue
		}
		if on := c.Ends[0].SQ.High.Diff(c.firstPSN); c.Paired || on > 1 && on <= int(c.Ends[0].Sums.Packets) {
			t.Rec.Doubt(i, "its DestQP has a packet stream of its own: the missing packet may have been lost before the tap")
		}
	}
}
