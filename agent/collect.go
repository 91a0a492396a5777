package agent

import (
	"cmp"
	"fmt"
	"slices"

	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier"
)

// result puts together what the shards found, in an order that does not depend on their number.
func (e *engine) result() *Result {
	r := &Result{Packets: e.sums.packets, RDMA: e.sums.rdma, Undecoded: e.sums.short, First: e.first, Last: e.last, Taps: e.src.Taps()}
	var skipped [verifier.NumSkips]uint64
	var all seals
	var hosts []host
	for _, s := range e.shards {
		t := s.t
		t.Finish(e.last)
		r.Repeated += t.repeated
		r.Undecoded += t.short
		for i, n := range t.ver.Skipped {
			skipped[i] += n
		}
		for i, c := range t.Rec.Cover {
			r.Cover[i].Exercised += c.Exercised
			r.Cover[i].Violated += c.Violated
			r.Cover[i].Unproven += c.Unproven
		}
		r.Findings = append(r.Findings, t.Rec.Findings...)
		r.Connections = append(r.Connections, t.connections()...)
		for _, h := range t.hosts.list {
			hosts = append(hosts, h)
			for _, s := range h.seals {
				all.good += s.good
				all.bad += s.bad
			}
		}
	}
	for _, tap := range r.Taps {
		r.Dropped += tap.Dropped
	}
	for i, n := range skipped {
		if n > 0 {
			r.NotJudged = append(r.NotJudged, Note{verifier.Skip(i).String(), n})
		}
	}
	if e.sums.unknown > 0 {
		r.NotJudged = append(r.NotJudged, Note{"frames of a link type that cannot be decoded", e.sums.unknown})
	}
	slices.SortStableFunc(r.NotJudged, func(a, b Note) int { return cmp.Compare(b.Count, a.Count) })
	unsealedFindings(r, hosts, all)
	r.sort()
	return r
}

// sort brings findings and connections into frame order.
func (r *Result) sort() {
	files := map[string]bool{}
	for _, t := range r.Taps {
		files[t.File] = true
	}
	one := len(files) <= 1
	slices.SortStableFunc(r.Findings, func(a, b rule.Finding) int {
		if one {
			return cmp.Or(cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.Seq, b.Seq))
		}
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Tap, b.Tap), cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.Seq, b.Seq))
	})
	for i := range r.Findings {
		r.Findings[i].Seq = uint32(i) + 1
	}
	slices.SortStableFunc(r.Connections, func(a, b Connection) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.FirstTap, b.FirstTap), cmp.Compare(a.FirstFrame, b.FirstFrame))
	})
}

// unsealedFindings replaces the ICRC findings of a capture of which no packet has a right ICRC, or of a direction of many packets of
// which none has, by one: the ICRC was not filled in when the tap saw it, or the sender computes another one.
func unsealedFindings(r *Result, hosts []host, all seals) {
	if all.bad == 0 {
		return
	}
	icrc := func(f *rule.Finding) bool {
		return f.Rule == rule.ROCV2019 || f.Rule == rule.LNKCRC003 || f.Rule == rule.LNKCRC004
	}
	drop := func(which func(f *rule.Finding) bool) (first rule.Finding) {
		r.Findings = slices.DeleteFunc(r.Findings, func(f rule.Finding) bool {
			if !icrc(&f) || !which(&f) {
				return false
			}
			if first.Frame == 0 || f.Frame < first.Frame {
				first = f
			}
			if f.Class == rule.Violation {
				r.Cover[f.Rule].Violated--
			} else {
				r.Cover[f.Rule].Unproven--
			}
			return true
		})
		return first
	}
	if all.good == 0 {
		f := drop(func(*rule.Finding) bool { return true })
		f.Class, f.Peer = rule.Unproven, rule.Endpoint{}
		f.Accused = rule.Endpoint{Role: rule.Capture}
		f.Expected, f.Actual = "ICRCs that match their packets", fmt.Sprintf("all %d are wrong", all.bad)
		f.Detail = "the ICRC was probably not filled in yet when the tap saw the packets (offload), or was rewritten on the way; the packets were judged all the same"
		r.Cover[f.Rule].Unproven++
		r.Findings = append(r.Findings, f)
		return
	}
	for _, h := range hosts {
		for dir, s := range h.seals {
			if s.good > 0 || s.bad < unsealed {
				continue
			}
			src, dst := h.a, h.b
			if dir == 1 {
				src, dst = dst, src
			}
			f := drop(func(f *rule.Finding) bool { return f.Accused.Addr == src && f.Peer.Addr == dst })
			if f.Frame == 0 {
				continue
			}
			f.Actual = fmt.Sprintf("all %d packets from %v to %v are wrong", s.bad, src, dst)
			f.Detail = "the ICRC was not filled in yet when the tap saw the packets (offload), or the sender computes another one; the packets were judged all the same"
			f.Class = rule.Unproven
			r.Cover[f.Rule].Unproven++
			r.Findings = append(r.Findings, f)
		}
	}
}

// connections lists the connections of a shard as the report shows them.
func (t *Transport) connections() []Connection {
	out := make([]Connection, 0, t.pairs.n)
	for i := range t.pairs.n {
		c := t.pairs.at(i)
		if c.dead || c.Ends[0].Sums.Packets+c.Ends[1].Sums.Packets == 0 && c.learned != ByCM {
			continue
		}
		k := Connection{
			Service: c.Service, Encap: c.Encap, PMTU: c.PMTU, Learned: c.learned,
			First: c.firstTime, FirstFrame: c.firstFrame, FirstTap: c.firstTap,
		}
		if c.Service == packet.UD {
			k.PMTU = 0
		}
		for e := range c.Ends {
			q := &c.Ends[e]
			k.Ends[e] = End{
				Addr: q.Addr, QPN: q.Number, QPNKnown: q.Numbered, Near: q.Near,
				Packets: q.Sums.Packets, Bytes: q.Sums.Bytes, Messages: q.Sums.Messages,
				Retransmissions: uint64(q.Sums.Retransmissions), Duplicates: uint64(q.Sums.Duplicates),
				NAKs: uint64(q.Sums.NAKs), SequenceNAKs: uint64(q.Sums.SequenceNAKs), RNRNAKs: uint64(q.Sums.RNRNAKs),
			}
		}
		out = append(out, k)
	}
	return out
}
