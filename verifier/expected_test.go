package verifier

import (
	"slices"
	"testing"

	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// ground is a connection of which end 0 has sent requests, and the next packets that the fast path takes.
type ground struct {
	*Verifier
	c     *qp.Pair
	q     *qp.SendQueue    // of end 0
	r     *qp.ReceiveQueue // of end 1
	frame uint64
}

// message is request number i (from 0) as the fast path leaves it.
func (g *ground) message(i int) *wqe.SendWQE { return g.q.Messages.At(i) }

// packet is one with a header that nothing is wrong with.
func (g *ground) packet(fn packet.Fn, psn packet.PSN, payload int) *packet.Packet {
	g.frame++
	p := &packet.Packet{
		Frame: g.frame, Time: int64(g.frame) * 1000, Encap: packet.RoCEv2IPv4, ICRCState: packet.CRCGood, PKey: 0xFFFF, DestQP: 0x22, SrcPort: 0xC001,
		Opcode: packet.Op(packet.RC, fn), PSN: psn, PayloadLen: payload, ICRC: uint32(g.frame), IPID: uint16(g.frame),
		Syndrome: packet.CreditInvalid,
	}
	p.Has = packet.HasBTH | p.Info().Headers
	return p
}

// request sends a request with the next PSN.
func (g *ground) request(fn packet.Fn, payload int, dma uint32) *packet.Packet {
	p := g.packet(fn, g.q.Next, payload)
	p.DMALen = dma
	g.RC(g.c, 0, p)
	return p
}

const groundMTU = 1024

// newGround: a SEND, a WRITE, a READ of two responses, a READ of one, a FetchAdd, a SEND are outstanding.
func newGround() *ground {
	var rec rule.Recorder
	g := &ground{Verifier: New(&rec, func(packet.Addr) bool { return false }), c: &qp.Pair{Service: packet.RC, Encap: packet.RoCEv2IPv4, Paired: true, PMTU: groundMTU}}
	g.q, g.r = &g.c.Ends[0].SQ, &g.c.Ends[1].RQ
	qp.Begin(g.c, 0, 0xFFFFFE)
	qp.Begin(g.c, 1, 7)
	g.request(packet.SendOnly, 8, 0)
	g.request(packet.WriteOnly, 8, 8)
	g.request(packet.ReadRequest, 0, groundMTU+8)
	g.request(packet.ReadRequest, 0, 8)
	g.request(packet.FetchAdd, 0, 0)
	g.request(packet.SendOnly, 8, 0)
	return g
}

// respond sends the responses to messages 0 … n-1, and returns the first of the next.
func (g *ground) respond(n int) *packet.Packet {
	for i := 0; ; i++ {
		w := g.message(i)
		p := g.packet(packet.Acknowledge, w.First, 0)
		switch {
		case w.Op == wqe.Read && w.First != w.Last:
			if p = g.packet(packet.ReadRespFirst, w.First, groundMTU); i != n {
				p.MSN = uint32(i + 1)
				g.RC(g.c, 1, p)
				p = g.packet(packet.ReadRespLast, w.Last, 8)
			}
		case w.Op == wqe.Read:
			p = g.packet(packet.ReadRespOnly, w.First, 8)
		case w.Op.Atomic():
			p = g.packet(packet.AtomicAck, w.First, 0)
		}
		p.MSN = uint32(i + 1)
		if i == n {
			return p
		}
		g.RC(g.c, 1, p)
	}
}

// cause is something out of the ordinary.
type cause struct {
	name string
	set  func(g *ground, p *packet.Packet)
}

// unusual are those that usual knows.
var unusual = []cause{
	{"not paired", func(g *ground, _ *packet.Packet) { g.c.Paired = false }},
	{"early", func(g *ground, _ *packet.Packet) { g.c.Early = make([]qp.Early, 1) }},
	{"odd payload", func(g *ground, _ *packet.Packet) { g.c.Odd = 5 }},
	{"invalidated", func(g *ground, _ *packet.Packet) { g.c.Invalidated = true }},
	{"not joined", func(g *ground, _ *packet.Packet) { g.q.Joined = false }},
	{"fresh", func(g *ground, _ *packet.Packet) { g.q.Fresh = true }},
	{"unsure", func(g *ground, _ *packet.Packet) { g.q.Unsure = true }},
	{"odd", func(g *ground, _ *packet.Packet) { g.q.Odd = wqe.Send }},
	{"interrupted", func(g *ground, _ *packet.Packet) { g.q.Interrupted = wqe.Send }},
	{"READ of unknown length", func(g *ground, _ *packet.Packet) { g.q.ReadLen = 5000 }},
	{"stray", func(g *ground, _ *packet.Packet) { g.q.Stray = &packet.Packet{} }},
	{"sent further before", func(g *ground, _ *packet.Packet) { g.q.High = g.q.High.Add(1) }},
	{"hole", func(g *ground, _ *packet.Packet) { g.q.HoleEnd = g.q.Hole.Add(1) }},
	{"retrying", func(g *ground, _ *packet.Packet) { g.q.Retrying = true }},
	{"passed", func(g *ground, _ *packet.Packet) { g.q.Lack(g.q.Una, 0) }},
	{"credited", func(g *ground, _ *packet.Packet) { g.q.Credited = true }},
	{"responder not joined", func(g *ground, _ *packet.Packet) { g.r.Joined = false }},
	{"expects another PSN", func(g *ground, _ *packet.Packet) { g.r.EPSN = g.r.EPSN.Add(-1) }},
	{"NAK", func(g *ground, _ *packet.Packet) { g.r.Nak = qp.NakRNR }},
	{"repeated", func(g *ground, _ *packet.Packet) { g.r.Repeated = true }},
	{"owed", func(g *ground, _ *packet.Packet) { g.r.Owed = &qp.Debt{} }},
	{"unseen", func(g *ground, _ *packet.Packet) { g.r.Unseen = 1 }},
	{"RNR NAKs", func(g *ground, _ *packet.Packet) { g.r.RNRs = 1 }},
	{"MSN guessed", func(g *ground, _ *packet.Packet) { g.r.MSN = qp.MSNGuessed }},
	{"anchor", func(g *ground, _ *packet.Packet) { g.r.Anchor = &packet.Packet{} }},
	{"thorough", func(g *ground, _ *packet.Packet) { g.Thorough = true }},
}

// These are those that each packet of the fast path, each request and each response is held against.
var (
	anyPacket = []cause{
		{"cut", func(_ *ground, p *packet.Packet) { p.Cut = true }},
	}
	anyRequest = []cause{
		{"header broken", func(g *ground, _ *packet.Packet) { g.broken = true }},
		{"PSN behind", func(_ *ground, p *packet.Packet) { p.PSN = p.PSN.Add(-1) }},
		{"PSN ahead", func(_ *ground, p *packet.Packet) { p.PSN = p.PSN.Add(1) }},
		{"another message open", func(g *ground, _ *packet.Packet) { g.q.Open ^= 3 }},
		{"far from the first", func(g *ground, _ *packet.Packet) { g.q.First = g.q.First.Add(-farAway) }},
		{"much outstanding", func(g *ground, _ *packet.Packet) { g.q.Una = g.q.Una.Add(-farAway) }},
		{"too long", func(_ *ground, p *packet.Packet) { p.PayloadLen = groundMTU + 1 }},
		{"longer than any, path MTU not known", func(g *ground, p *packet.Packet) { g.c.PMTU, g.c.Least, p.PayloadLen = 0, 20, 21 }},
	}
	anyResponse = []cause{
		{"acknowledged before", func(g *ground, p *packet.Packet) { g.q.Una = p.PSN.Add(1) }},
		{"not sent yet", func(g *ground, p *packet.Packet) { p.PSN = g.q.Next }},
		{"of no message", func(g *ground, p *packet.Packet) { g.q.Messages.Reset() }},
		{"no credits agreed", func(g *ground, _ *packet.Packet) {
			g.c.Ends[1].Attr = &hcaagent.Attr{Known: hcaagent.KnowsCredits}
		}},
		{"credits", func(_ *ground, p *packet.Packet) { p.Syndrome = 3 }},
		{"NAK", func(_ *ground, p *packet.Packet) { p.Syndrome = packet.NAKSequence }},
		{"MSN of the next", func(_ *ground, p *packet.Packet) { p.MSN++ }},
		{"other epoch", func(g *ground, p *packet.Packet) { g.at(p).Epoch++ }},
		{"not ended", func(g *ground, p *packet.Packet) { g.at(p).Flags &^= wqe.Ended }},
		{"unsized", func(g *ground, p *packet.Packet) { g.at(p).Flags |= wqe.Unsized }},
		{"answered", func(g *ground, p *packet.Packet) { g.at(p).Flags |= wqe.Answered }},
		{"blamed", func(g *ground, p *packet.Packet) { g.at(p).Flags |= wqe.Blamed }},
		{"again", func(g *ground, p *packet.Packet) { g.at(p).Flags |= wqe.Again }},
		{"gapped", func(g *ground, p *packet.Packet) { g.at(p).Flags |= wqe.Gapped }},
		{"accused", func(g *ground, p *packet.Packet) { g.at(p).Flags |= wqe.Accused }},
	}
)

// at is the message that a response answers.
func (g *ground) at(p *packet.Packet) *wqe.SendWQE {
	w, _ := g.q.Messages.Find(p.PSN)
	return w
}

// TestExpectedDeclines: each condition of the fast path of RC leaves a packet to the verifiers proper by itself.
func TestExpectedDeclines(t *testing.T) {
	open := func(first packet.Fn, dma uint32) func(*ground) {
		return func(g *ground) { g.request(first, groundMTU, dma) }
	}
	attr := cause{"attributes", func(g *ground, _ *packet.Packet) { g.c.Ends[1].Attr = &hcaagent.Attr{} }}
	length := cause{"length", func(_ *ground, p *packet.Packet) { p.PayloadLen-- }}
	empty := cause{"empty", func(_ *ground, p *packet.Packet) { p.PayloadLen = 0 }}
	shut := cause{"no message open", func(g *ground, _ *packet.Packet) { g.q.Open = wqe.None }}
	dma := cause{"DMALen", func(_ *ground, p *packet.Packet) { p.DMALen-- }}
	notWhole := cause{"not whole", func(g *ground, _ *packet.Packet) { g.q.Messages.Newest().Flags &^= wqe.Whole }}
	blamed := cause{"blamed", func(g *ground, _ *packet.Packet) { g.q.Messages.Newest().Flags |= wqe.Blamed }}
	copied := []cause{
		{"IPID of the one before", func(g *ground, p *packet.Packet) { p.IPID = g.r.LastID }},
		{"ICRC of the one before", func(g *ground, p *packet.Packet) { p.ICRC = g.r.LastICRC }},
		{"another response is next", func(g *ground, p *packet.Packet) { g.at(p).RespNext = p.PSN.Add(1) }},
		{"one was missing", func(g *ground, p *packet.Packet) { g.at(p).Missing = p.PSN.Add(-1) }},
		{"another issue", func(g *ground, p *packet.Packet) { g.at(p).RespFirst = g.at(p).First.Add(-1) }},
		{"none outstanding", func(g *ground, _ *packet.Packet) { g.q.RdOut = 0 }},
	}
	passing := []cause{
		{"passes over a READ", func(g *ground, p *packet.Packet) { g.q.Messages.Unanswered(); g.q.Una = g.message(2).First }},
		{"passes over a READ asked for again", func(g *ground, p *packet.Packet) { g.q.Messages.Unanswered(); g.message(3).Flags |= wqe.Again }},
		{"passes over a READ with a gap", func(g *ground, p *packet.Packet) { g.q.Messages.Unanswered(); g.message(3).Flags |= wqe.Gapped }},
	}
	for _, k := range []struct {
		name     string
		before   func(*ground)
		fn       packet.Fn // of a request
		response int       // else: the message that is answered, plus one
		payload  int
		dma      uint32
		causes   []cause
	}{
		{name: "SEND Only", fn: packet.SendOnly, payload: 8},
		{name: "SEND First", fn: packet.SendFirst, payload: groundMTU, causes: []cause{length}},
		{name: "SEND Middle", fn: packet.SendMiddle, before: open(packet.SendFirst, 0), payload: groundMTU, causes: []cause{length, shut}},
		{name: "SEND Last", fn: packet.SendLast, before: open(packet.SendFirst, 0), payload: 8, causes: []cause{empty, shut}},
		{name: "WRITE Only", fn: packet.WriteOnly, payload: 8, dma: 8, causes: []cause{dma, length}},
		{name: "WRITE First", fn: packet.WriteFirst, payload: groundMTU, dma: groundMTU + 1, causes: []cause{dma, length, {"DMALen", func(_ *ground, p *packet.Packet) { p.DMALen = 1<<31 + 1 }}}},
		{name: "WRITE Middle", fn: packet.WriteMiddle, before: open(packet.WriteFirst, 2*groundMTU+1), payload: groundMTU, causes: []cause{length, shut, notWhole, blamed, {
			"full", func(g *ground, _ *packet.Packet) { g.q.Messages.Newest().Length-- },
		}}},
		{name: "WRITE Last", fn: packet.WriteLast, before: open(packet.WriteFirst, groundMTU+8), payload: 8, causes: []cause{length, empty, shut, notWhole, blamed}},
		{name: "READ", fn: packet.ReadRequest, dma: 3000, causes: []cause{attr, {"DMALen", func(_ *ground, p *packet.Packet) { p.DMALen = 1<<31 + 1 }}, {
			"path MTU not known", func(g *ground, _ *packet.Packet) { g.c.PMTU = 0 },
		}}},
		{name: "CmpSwap", fn: packet.CmpSwap, causes: []cause{attr, {"VA", func(_ *ground, p *packet.Packet) { p.VA = 4 }}}},
		{name: "FetchAdd", fn: packet.FetchAdd, causes: []cause{attr, {"VA", func(_ *ground, p *packet.Packet) { p.VA = 4 }}, {"compare", func(_ *ground, p *packet.Packet) { p.Compare = 1 << 63 }}}},

		{name: "Acknowledge of a SEND", response: 1, causes: []cause{{"of a READ", func(g *ground, p *packet.Packet) { g.at(p).Op = wqe.Read }}, {
			"inside the message", func(g *ground, p *packet.Packet) { w := g.at(p); w.Last = w.Last.Add(1) },
		}}},
		{name: "Acknowledge of a WRITE", response: 2},
		{name: "READ response First", response: 3, causes: append([]cause{length, {"Middle", func(_ *ground, p *packet.Packet) {
			p.Opcode = packet.Op(packet.RC, packet.ReadRespMiddle)
		}}}, copied[:5]...)},
		{name: "READ response Only", response: 4, causes: append([]cause{length, {"First", func(_ *ground, p *packet.Packet) {
			p.Opcode = packet.Op(packet.RC, packet.ReadRespFirst)
		}}, {
			"longer than any, path MTU not known", func(g *ground, p *packet.Packet) { g.c.PMTU, g.c.Least = 0, 7 },
		}}, copied...)},
		{name: "ATOMIC Acknowledge", response: 5, causes: append([]cause{{"answered in a frame", func(g *ground, p *packet.Packet) { g.at(p).RespFrame = 1 }}, {
			"of a SEND", func(g *ground, p *packet.Packet) { g.at(p).Op = wqe.Send },
		}, copied[5], {"of two PSNs", func(g *ground, p *packet.Packet) { w := g.at(p); w.First = w.First.Add(-1) }}}, passing...)},
	} {
		causes := slices.Concat(unusual, anyPacket, k.causes)
		if k.response == 0 {
			causes = append(causes, anyRequest...)
		} else {
			causes = append(causes, anyResponse...)
		}
		for i := -1; i < len(causes); i++ {
			g, name := newGround(), "nothing unusual"
			if k.before != nil {
				k.before(g)
			}
			var p *packet.Packet
			if k.response != 0 {
				p = g.respond(k.response - 1)
			} else {
				p = g.packet(k.fn, g.q.Next, k.payload)
				p.DMALen = k.dma
			}
			if i >= 0 {
				name = causes[i].name
				causes[i].set(g, p)
				g.settle(g.c)
			}
			taken := k.response != 0 && g.rcExpectedResponse(g.c, &g.c.Ends[1], &g.c.Ends[0], p, &expectations[p.Opcode]) || k.response == 0 && expectations[p.Opcode].known && g.rcExpectedRequest(g.c, &g.c.Ends[0], &g.c.Ends[1], p, &expectations[p.Opcode])
			if taken != (i < 0) {
				t.Errorf("%s, %s: taken %t", k.name, name, taken)
			}
		}
	}
}
