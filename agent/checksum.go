package agent

import (
	"fmt"
	"slices"

	"ibwitness/agent/internal/connection"
	"ibwitness/packet"
	"ibwitness/rule"
)

// unsealed is how many packets of one direction must fail a checksum, and none pass, before it counts as not filled in.
const unsealed = 8

// checksum is a check that a capture, or one direction of it, may fail as a whole: a fault of how it was taken, and one finding.
type checksum struct {
	name  string
	rules []rule.ID
	seals func(h *connection.Host) *[2]connection.Seals
	why   string
}

var checksums = []checksum{
	{
		"ICRC",
		[]rule.ID{rule.ROCV2019, rule.LNKCRC003, rule.LNKCRC004},
		func(h *connection.Host) *[2]connection.Seals { return &h.ICRC },
		"the tap saw the packets before the ICRC was computed (offload), or the sender computes another ICRC; the packets were judged nevertheless",
	},
	{
		"VCRC",
		[]rule.ID{rule.LNKCRC001},
		func(h *connection.Host) *[2]connection.Seals { return &h.VCRC },
		"the capture does not hold the VCRC of the link, or the sender computes another VCRC",
	},
}

// gatherChecksums replaces the checksum findings of a capture of which no packet is right, or of a direction of many packets of which
// none is, by one each.
func gatherChecksums(r *Result, hosts []*connection.Host) {
	for i := range checksums {
		checksums[i].gather(r, hosts)
	}
}

func (k *checksum) gather(r *Result, hosts []*connection.Host) {
	var all connection.Seals
	wrong := map[[2]packet.Addr]uint64{} // directions of which every packet is wrong, and how many they are
	for _, h := range hosts {
		for dir, s := range k.seals(h) {
			all.Good += s.Good
			all.Bad += s.Bad
			if s.Good == 0 && s.Bad >= unsealed {
				wrong[h.Way(dir)] = s.Bad
			}
		}
	}
	whole := all.Good == 0 && all.Bad > 0
	if !whole && len(wrong) == 0 {
		return
	}
	first := map[[2]packet.Addr]rule.Finding{}
	r.Findings = slices.DeleteFunc(r.Findings, func(f rule.Finding) bool {
		if !slices.Contains(k.rules, f.Rule) {
			return false
		}
		way := [2]packet.Addr{f.Accused.Addr, f.Peer.Addr}
		if whole {
			way = [2]packet.Addr{}
		} else if wrong[way] == 0 {
			return false
		}
		if g, ok := first[way]; !ok || f.Frame < g.Frame {
			first[way] = f
		}
		if f.Class == rule.Violation {
			r.Cover[f.Rule].Violated--
		} else {
			r.Cover[f.Rule].Unproven--
		}
		return true
	})
	for way, f := range first {
		f.Class, f.Detail = rule.Unproven, k.why
		f.Actual = fmt.Sprintf("all %d packets from %v to %v are wrong", wrong[way], way[0], way[1])
		if whole {
			f.Accused, f.Peer = rule.Endpoint{Role: rule.Capture}, rule.Endpoint{}
			f.Expected, f.Actual = k.name+"s that match their packets", fmt.Sprintf("all %d are wrong", all.Bad)
		}
		r.Cover[f.Rule].Unproven++
		r.Findings = append(r.Findings, f)
	}
}

// seal judges the ICRC of a packet; see header.Verifier.Seal. Where every packet of one direction so far fails, the ICRC is not filled in
// (checksum offload): the packets are followed all the same.
func (t *Transport) seal(c *connection.Connection, from int, p *packet.Packet, host, dir uint32) bool {
	h := t.table.Host(host)
	if p.ICRCState != packet.CRCBad {
		t.table.Discards(c, from, p, h, dir)
	} else if t.table.FreshQPs() {
		t.hasSent(p)
	}
	taken := true
	switch s := &h.VCRC[dir]; p.VCRCState {
	case packet.CRCGood:
		s.Good++
	case packet.CRCBad:
		s.Bad++
		switch {
		case p.ICRCState != packet.CRCGood:
		case s.Good > 0:
			p.Flaws |= packet.FlawVCRC
		case s.Bad < unsealed && p.Opcode.Service() == packet.RC:
			taken = false // nobody knows: it may be damaged, or VCRCs may not be filled in here
		}
	}
	if p.ICRCState == packet.CRCBad && t.header.Trimmed(c.QPs(), from, p) {
		t.congestion.Unfollowed(p)
		return false
	}
	s := &h.ICRC[dir]
	if p.ICRCState == packet.CRCBad && p.Flaws&(packet.FlawIPLength|packet.FlawUDPLength|packet.FlawLRHLength) != 0 {
		t.header.Length(c.QPs(), from, p)
		t.congestion.Unfollowed(p)
		return false
	}
	switch p.ICRCState {
	case packet.CRCGood:
		s.Good++
		if c != nil {
			c.Seal(from)
		}
	case packet.CRCBad:
		s.Bad++
		if s.Good == 0 && s.Bad >= unsealed {
			p.ICRCState = packet.CRCNotJudged
			return true
		}
	}
	ok := t.header.Seal(c.QPs(), from, p) && taken
	if !ok {
		t.congestion.Unfollowed(p)
	}
	return ok
}
