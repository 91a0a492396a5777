package cm_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/internal/testkit/disturb"
	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/tally"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier/cm"
)

// sent is a message of a conversation: how long after the one before, from which host, and what.
type sent struct {
	after time.Duration
	from  int
	m     mad.Message
}

// The two connections of the conversations.
const (
	idA, idB = 0x0A00_0001, 0x0B00_0001
	tidA     = 0x0700_0000_0000_0011
	tidB     = 0x0700_0000_0000_0022
	timeout  = 14 // 67.108864 ms
	waited   = 68 * time.Millisecond
)

func boundPath() mad.Path {
	return mad.Path{LocalLID: mad.PermissiveLID, RemoteLID: mad.PermissiveLID, LocalGID: hosts[0], RemoteGID: hosts[1], HopLimit: 64, LocalAckTimeout: 16}
}

func boundREQ() *mad.REQ {
	return &mad.REQ{
		Header: mad.CMHeader(mad.AttrREQ, tidA), LocalCommID: idA, ServiceID: 0x01060001, LocalCAGUID: 9, LocalQPN: 0x11, ResponderResources: 4, InitiatorDepth: 3,
		RemoteCMTimeout: timeout, LocalCMTimeout: timeout, StartingPSN: 0x100, RetryCount: 5, PKey: 0xFFFF, PathMTU: 3, RNRRetryCount: 6, MaxCMRetries: 2, Primary: boundPath(),
		Alternate: boundPath(), Private: []byte{0, 0x40, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 2},
	}
}

func boundREP() *mad.REP {
	return &mad.REP{
		Header: mad.CMHeader(mad.AttrREP, tidA), LocalCommID: idB, RemoteCommID: idA, LocalQPN: 0x22, StartingPSN: 0x200, ResponderResources: 3, InitiatorDepth: 4, TargetAckDelay: 15,
		RNRRetryCount: 7, LocalCAGUID: 8,
	}
}

func boundRTU() *mad.RTU {
	return &mad.RTU{Header: mad.CMHeader(mad.AttrRTU, tidA), LocalCommID: idA, RemoteCommID: idB}
}

func boundDREQ() *mad.DREQ {
	return &mad.DREQ{Header: mad.CMHeader(mad.AttrDREQ, tidB), LocalCommID: idA, RemoteCommID: idB, RemoteQPN: 0x22}
}

func boundDREP() *mad.DREP {
	return &mad.DREP{Header: mad.CMHeader(mad.AttrDREP, tidB), LocalCommID: idB, RemoteCommID: idA}
}

func mra(of mad.Answered, tid uint64, from int) *mad.MRA {
	m := &mad.MRA{Header: mad.CMHeader(mad.AttrMRA, tid), LocalCommID: idA, RemoteCommID: idB, Answered: of, ServiceTimeout: 15}
	if from == 1 {
		m.LocalCommID, m.RemoteCommID = idB, idA
	}
	return m
}

const ms = time.Millisecond

// before is for how long the tap has seen the hosts already: just as long as the REQs may be retransmitted.
const before = 3 * (4096 << timeout / 8 * 7)

// boundTalks are conversations in which all is well.
func boundTalks() map[string][]sent {
	lap := &mad.LAP{
		Header: mad.CMHeader(mad.AttrLAP, tidB), LocalCommID: idA, RemoteCommID: idB, RemoteQPN: 0x22, RemoteCMTimeout: timeout, LocalLID: mad.PermissiveLID, RemoteLID: mad.PermissiveLID,
		LocalGID: hosts[0], RemoteGID: hosts[1], LocalAckTimeout: 16,
	}
	apr := &mad.APR{Header: mad.CMHeader(mad.AttrAPR, tidB), LocalCommID: idB, RemoteCommID: idA}
	rej := &mad.REJ{Header: mad.CMHeader(mad.AttrREJ, tidA), RemoteCommID: idA, Reason: 8}
	late := &mad.REJ{
		Header: mad.CMHeader(mad.AttrREJ, tidA), LocalCommID: idA, Reason: mad.RejTimeout, Rejected: mad.AnsweredOther, InfoLength: 8, Info: []byte{0, 0, 0, 0, 0, 0, 0, 9},
	}
	redirect := &mad.REJ{Header: mad.CMHeader(mad.AttrREJ, tidA), RemoteCommID: idA, Reason: 24, InfoLength: 72}
	newREQ, newREP, newRTU := boundREQ(), boundREP(), boundRTU()
	newREQ.TID, newREQ.LocalCommID = tidB+1, idA+1
	newREP.TID, newREP.RemoteCommID, newREP.LocalCommID = tidB+1, idA+1, idB+1
	newRTU.TID, newRTU.LocalCommID, newRTU.RemoteCommID = tidB+1, idA+1, idB+1
	stale := &mad.REJ{Header: mad.CMHeader(mad.AttrREJ, tidA), RemoteCommID: idA, Reason: mad.RejStale}
	peer := boundREQ()
	peer.TID, peer.LocalCommID, peer.LocalQPN, peer.LocalCAGUID = tidB, idB, 0x22, 8
	peer.Primary.LocalGID, peer.Primary.RemoteGID, peer.Alternate = hosts[1], hosts[0], mad.Path{}
	peer.Private = []byte{0, 0x40, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1}
	dreq := boundDREQ()
	dreq.LocalCommID, dreq.RemoteCommID, dreq.RemoteQPN, dreq.TID = idB, idA, 0x11, tidB+2
	drep := boundDREP()
	drep.LocalCommID, drep.RemoteCommID, drep.TID = idA, idB, tidB+2
	sidrReq := &mad.SIDRReq{Header: mad.CMHeader(mad.AttrSIDRReq, tidA), RequestID: 5, PKey: 0xFFFF, ServiceID: 0x0111_0001, Private: boundREQ().Private}
	return map[string][]sent{
		"a connection": {
			{0, 0, boundREQ()},
			{ms, 1, mra(mad.AnsweredREQ, tidA, 1)},
			{ms, 1, boundREP()},
			{ms, 0, mra(mad.AnsweredREP, tidA, 0)},
			{ms, 0, boundRTU()},
			{ms, 0, lap},
			{ms, 1, mra(mad.AnsweredOther, tidB, 1)},
			{ms, 1, apr},
			{100 * ms, 0, boundDREQ()},
			{ms, 1, boundDREP()},
		},
		"repetitions": {
			{0, 0, boundREQ()},
			{waited, 0, boundREQ()},
			{waited, 0, boundREQ()},
			{ms, 1, boundREP()},
			{waited, 1, boundREP()},
			{ms, 0, boundRTU()},
			{waited, 0, boundDREQ()},
			{waited, 0, boundDREQ()},
			{ms, 1, boundDREP()},
		},
		"patience":      {{0, 0, boundREQ()}, {ms, 1, mra(mad.AnsweredREQ, tidA, 1)}, {130 * ms, 0, boundREQ()}, {ms, 1, mra(mad.AnsweredREQ, tidA, 1)}, {ms, 1, boundREP()}, {ms, 0, boundRTU()}},
		"a refusal":     {{0, 0, boundREQ()}, {ms, 1, rej}, {ms, 0, boundREQ()}, {ms, 1, boundREP()}, {waited, 1, boundREP()}, {ms, 0, boundRTU()}},
		"giving up":     {{0, 0, boundREQ()}, {waited, 0, boundREQ()}, {waited, 0, boundREQ()}, {waited, 0, late}},
		"a new one":     {{0, 0, boundREQ()}, {ms, 1, boundREP()}, {ms, 0, boundRTU()}, {ms, 0, boundDREQ()}, {ms, 1, boundDREP()}, {5 * time.Second, 0, newREQ}, {ms, 1, newREP}, {ms, 0, newRTU}},
		"a stale one":   {{0, 0, boundREQ()}, {ms, 1, boundREP()}, {ms, 0, boundRTU()}, {ms, 0, boundDREQ()}, {ms, 1, boundDREP()}, {ms, 0, boundREQ()}, {ms, 1, stale}},
		"a redirection": {{0, 0, boundREQ()}, {ms, 1, redirect}, {ms, 0, boundREQ()}, {ms, 1, boundREP()}, {ms, 0, boundRTU()}},
		"too late":      {{0, 0, boundREQ()}, {ms, 1, mra(mad.AnsweredREQ, tidA, 1)}, {ms, 1, rej}, {ms, 1, boundREP()}, {ms, 0, boundRTU()}},
		"both ask":      {{0, 0, boundREQ()}, {ms, 1, peer}, {ms, 1, boundREP()}, {ms, 0, boundRTU()}},
		"both end":      {{0, 0, boundREQ()}, {ms, 1, boundREP()}, {ms, 0, boundRTU()}, {ms, 0, boundDREQ()}, {ms, 1, dreq}, {ms, 0, drep}, {ms, 1, boundDREP()}},
		"a service": {
			{0, 0, sidrReq}, {waited, 0, sidrReq}, {ms, 1, &mad.SIDRRep{Header: mad.CMHeader(mad.AttrSIDRRep, tidA), RequestID: 5, ServiceID: 0x0111_0001, QPN: 0x33}},
		},
	}
}

// TestBounds holds what is said at the bounds of all fields and times in conversations.
func TestBounds(t *testing.T) {
	var out strings.Builder
	talks := boundTalks()
	for i, name := range []string{"a connection", "repetitions", "patience", "a refusal", "giving up", "a new one", "a stale one", "a redirection", "too late", "both ask", "both end", "a service"} {
		if i%sample.Stride(4) != sample.Stride(4)-1 {
			continue
		}
		var list []packet.Packet
		now := int64(1 << 50)
		for i, s := range talks[name] {
			b := make([]byte, mad.Size)
			if err := s.m.Encode(b); err != nil {
				t.Fatal(err)
			}
			now += int64(s.after)
			p := datagram(s.from, now, b)
			p.PKey, p.IPID, p.PSN = 0xFFFF, uint16(i+1), packet.PSN(i+1)
			if name == "a redirection" && i > 1 { // to another QP
				p.SrcQP, p.DestQP = uint32(1+4*s.from), uint32(5-4*s.from)
			}
			list = append(list, *p)
		}
		out.WriteString(disturb.Bounds(name, list, func(list []packet.Packet) []rule.Finding { return messages(list, true, before) }))
		if name == "a stale one" {
			out.WriteString(disturb.Bounds(name+" past a tap in the middle", list, func(list []packet.Packet) []rule.Finding { return messages(list, false, before) }))
		}
		if name == "a refusal" {
			out.WriteString(disturb.Bounds(name+" at the beginning", list, func(list []packet.Packet) []rule.Finding { return messages(list, true, 0) }))
		}
	}
	tally.Text(t, "testdata/bounds.txt", out.String())
}

// TestInfoLengths: how much additional information the reasons of a REJ have (section 12.6.7.2).
func TestInfoLengths(t *testing.T) {
	lengths := map[mad.RejReason]uint8{4: 8, 12: 16, 13: 2, 18: 16, 19: 2, 24: 72, 25: 16}
	for reason := range mad.RejReason(40) {
		for n := range uint8(80) {
			b := make([]byte, mad.Size)
			m := &mad.REJ{Header: mad.CMHeader(mad.AttrREJ, tidA), RemoteCommID: idA, Reason: reason, InfoLength: n}
			if err := m.Encode(b); err != nil {
				t.Fatal(err)
			}
			want, known := lengths[reason]
			bad := n > 72 || known && n != 0 && n != want
			found := messages([]packet.Packet{*datagram(1, 1<<50, b)}, true, before)
			if got := slices.ContainsFunc(found, func(f rule.Finding) bool { return f.Rule == rule.CMREJ003 }); got != bad {
				t.Errorf("reason %d with %d bytes: CM-REJ-003 %t, want %t", reason, n, got, bad)
			}
		}
	}
}

// messages judges a conversation, of which the tap sees all or some; before is for how long it has seen the hosts.
func messages(list []packet.Packet, near bool, before int64) []rule.Finding {
	rec := new(rule.Recorder)
	v := cm.New(rec)
	v.Near = func(packet.Addr, packet.Addr) bool { return near }
	v.Since = func(packet.Addr, packet.Addr) int64 { return 1<<50 - before }
	last := int64(0)
	for i := range list {
		p := list[i]
		p.Frame, last = uint64(i+1), max(last, p.Time)
		v.Packet(&p)
	}
	v.Finish(last + int64(10*time.Second))
	if err := v.Consistent(); err != nil {
		panic(err)
	}
	return rec.Findings
}
