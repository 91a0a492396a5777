package rc

import (
	"slices"
	"testing"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/verifier/congestion"
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
	g.Packet(g.c, 0, p)
	return p
}

const groundMTU = 1024

// newGround: a SEND, a WRITE, a READ of two responses, a READ of one, a FetchAdd, a SEND are outstanding.
func newGround() *ground { return groundFrom(0xFFFF00) }

// groundFrom is newGround, from a PSN on.
func groundFrom(start packet.PSN) *ground {
	var rec rule.Recorder
	shared := verifier.New(&rec, func(packet.Addr) bool { return false })
	g := &ground{Verifier: New(shared, congestion.New(shared)), c: qp.NewPair(packet.RC)}
	g.c.Encap, g.c.Paired, g.c.PMTU = packet.RoCEv2IPv4, true, groundMTU
	g.q, g.r = &g.c.Ends[0].SQ, g.c.RQ(1)
	qp.Begin(g.c, 0, start)
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
				g.Packet(g.c, 1, p)
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
		g.Packet(g.c, 1, p)
	}
}

// cause is something out of the ordinary.
type cause struct {
	name string
	set  func(g *ground, p *packet.Packet)
	fine bool // it is not: the fast path takes the packet all the same
}

// unusual are those that usual knows.
var unusual = []cause{
	{name: "not paired", set: func(g *ground, _ *packet.Packet) { g.c.Paired = false }},
	{name: "early", set: func(g *ground, _ *packet.Packet) { g.c.Wait(qp.Early{}) }},
	{name: "odd payload", set: func(g *ground, _ *packet.Packet) { g.c.OddPayload(5) }},
	{name: "went to another QP", set: func(g *ground, _ *packet.Packet) { g.c.Misdirect(&packet.Packet{}) }},
	{name: "invalidated", set: func(g *ground, _ *packet.Packet) { g.c.Invalidated = true }},
	{name: "not joined", set: func(g *ground, _ *packet.Packet) { g.q.Joined = false }},
	{name: "fresh", set: func(g *ground, _ *packet.Packet) { g.q.Fresh = true }},
	{name: "unsure", set: func(g *ground, _ *packet.Packet) { g.q.Sequence.Unsure = true }},
	{name: "odd", set: func(g *ground, _ *packet.Packet) { g.q.Sequence.Odd = wqe.Send }},
	{name: "interrupted", set: func(g *ground, _ *packet.Packet) { g.q.Sequence.Interrupted = wqe.Send }},
	{name: "READ of unknown length", set: func(g *ground, _ *packet.Packet) { g.q.AwaitSize(5000) }},
	{name: "stray", set: func(g *ground, _ *packet.Packet) { g.q.BeginJump(&packet.Packet{}, nil) }},
	{name: "P_Key of another partition", set: func(g *ground, _ *packet.Packet) { g.q.OpenForeign(0) }},
	{name: "sent further before", set: func(g *ground, _ *packet.Packet) { g.q.High = g.q.High.Add(1) }},
	{name: "hole", set: func(g *ground, _ *packet.Packet) { g.q.BeginGap(0, 1, false) }},
	{name: "retrying", set: func(g *ground, _ *packet.Packet) { g.q.BeginRetransmission(0) }},
	{name: "passed", set: func(g *ground, _ *packet.Packet) { g.q.LackResponse(g.q.Una, 0) }},
	{name: "credited", set: func(g *ground, _ *packet.Packet) { g.q.GiveCredits(0) }},
	{name: "expects another PSN", set: func(g *ground, _ *packet.Packet) { g.r.EPSN = g.r.EPSN.Add(-1) }},
	{name: "NAK", set: func(g *ground, _ *packet.Packet) { g.r.TakeNAK(qp.RNRNAKed, &packet.Packet{Syndrome: 0x20}) }},
	{name: "repeated", set: func(g *ground, _ *packet.Packet) { g.r.MayBeDuplicate() }},
	{name: "owed", set: func(g *ground, _ *packet.Packet) { g.r.AwaitResponse(qp.PendingResponse{}) }},
	{name: "unseen", set: func(g *ground, _ *packet.Packet) { g.r.CountUnseen() }},
	{name: "RNR NAKs", set: func(g *ground, _ *packet.Packet) { g.r.CountRNRs(1) }},
	{name: "MSN guessed", set: func(g *ground, _ *packet.Packet) { g.r.MSN.Degree = qp.MSNGuessed }},
	{name: "anchor", set: func(g *ground, _ *packet.Packet) { g.r.GuessMSN(new(packet.Packet)); g.r.MSN.Know() }},
	{name: "thorough", set: func(g *ground, _ *packet.Packet) { g.Thorough = true }},
}

// These are those that each packet of the fast path, each request and each response is compared with.
var (
	anyPacket = []cause{
		{name: "cut", set: func(_ *ground, p *packet.Packet) { p.Cut = true }},
		{name: "header broken", set: func(g *ground, _ *packet.Packet) { g.Broken = true }},
	}
	anyRequest = []cause{
		{name: "PSN before", set: func(_ *ground, p *packet.Packet) { p.PSN = p.PSN.Add(-1) }},
		{name: "PSN ahead", set: func(_ *ground, p *packet.Packet) { p.PSN = p.PSN.Add(1) }},
		{name: "another message open", set: func(g *ground, _ *packet.Packet) { g.q.Open ^= 3 }},
		{name: "PSN wraps", set: func(g *ground, p *packet.Packet) { move(g, p, -p.PSN) }},
		{name: "far from the first", set: func(g *ground, _ *packet.Packet) { g.q.First = g.q.First.Add(-farAway) }},
		{name: "much outstanding", set: func(g *ground, _ *packet.Packet) { g.q.Una = g.q.Una.Add(-farAway) }},
		{name: "too long", set: func(_ *ground, p *packet.Packet) { p.PayloadLen = groundMTU + 1 }},
		{name: "longer than any, path MTU not known", set: func(g *ground, p *packet.Packet) { g.c.PMTU, p.PayloadLen = 0, 21; g.c.ShowPayload(20) }},
	}
	anyResponse = []cause{
		{name: "acknowledged before", set: func(g *ground, p *packet.Packet) { g.q.Una = p.PSN.Add(1) }},
		{name: "not sent yet", set: func(g *ground, p *packet.Packet) { p.PSN = g.q.Next }},
		{name: "of no message", set: func(g *ground, p *packet.Packet) { g.q.Messages.Reset() }},
		{name: "no credits agreed", set: func(g *ground, _ *packet.Packet) {
			g.c.Ends[1].Attr = &qp.Attr{Known: qp.KnowsCredits}
		}},
		{name: "credits", set: func(_ *ground, p *packet.Packet) { p.Syndrome = 3 }},
		{name: "NAK", set: func(_ *ground, p *packet.Packet) { p.Syndrome = packet.NAKSequence }},
		{name: "PSN wraps", set: func(g *ground, p *packet.Packet) { move(g, p, -p.PSN); g.r.Last.Answer(packet.PSNMask) }},
		{name: "MSN wraps", set: func(g *ground, p *packet.Packet) { g.r.MSN.Last = p.MSN + 1 }},
		{name: "MSN of the next", set: func(_ *ground, p *packet.Packet) { p.MSN++ }},
		{name: "other epoch", set: func(g *ground, p *packet.Packet) { g.at(p).Epoch++ }},
		{name: "not ended", set: func(g *ground, p *packet.Packet) { g.at(p).Flags &^= wqe.Ended }},
		{name: "unsized", set: func(g *ground, p *packet.Packet) { g.at(p).Flags |= wqe.Unsized }},
		{name: "answered", set: func(g *ground, p *packet.Packet) { g.at(p).Flags |= wqe.Answered }},
		{name: "blamed", set: func(g *ground, p *packet.Packet) { g.at(p).Flags |= wqe.Blamed }},
		{name: "again", set: func(g *ground, p *packet.Packet) { g.at(p).Flags |= wqe.Reissued }},
		{name: "gapped", set: func(g *ground, p *packet.Packet) { g.at(p).Flags |= wqe.Gapped }},
		{name: "accused", set: func(g *ground, p *packet.Packet) { g.at(p).Flags |= wqe.Accused }},
	}
)

// move moves the stream by so many PSNs, and p with it.
func move(g *ground, p *packet.Packet, by packet.PSN) {
	for _, psn := range []*packet.PSN{&p.PSN, &g.q.First, &g.q.Next, &g.q.High, &g.q.Una, &g.q.Last.PSN, &g.r.EPSN, &g.r.Last.PSN} {
		*psn = (*psn + by) & packet.PSNMask
	}
	for i := range g.q.Messages.Len() {
		w := g.message(i)
		next := (w.RespNext() + by) & packet.PSNMask
		for _, psn := range []*packet.PSN{&w.First, &w.Last} {
			*psn = (*psn + by) & packet.PSNMask
		}
		w.AwaitResponse(next)
	}
}

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
	attr := cause{name: "attributes", set: func(g *ground, _ *packet.Packet) { g.c.Ends[1].Attr = &qp.Attr{} }}
	length := cause{name: "length", set: func(_ *ground, p *packet.Packet) { p.PayloadLen-- }}
	empty := cause{name: "empty", set: func(_ *ground, p *packet.Packet) { p.PayloadLen = 0 }}
	shut := cause{name: "no message open", set: func(g *ground, _ *packet.Packet) { g.q.Open = wqe.None }}
	dma := cause{name: "DMALen", set: func(_ *ground, p *packet.Packet) { p.DMALen-- }}
	lost := cause{name: "its message is not kept", set: func(g *ground, _ *packet.Packet) { g.q.Messages.Reset() }}
	notWhole := cause{name: "not whole", set: func(g *ground, _ *packet.Packet) { g.q.Messages.Newest().Flags &^= wqe.Whole }}
	blamed := cause{name: "blamed", set: func(g *ground, _ *packet.Packet) { g.q.Messages.Newest().Flags |= wqe.Blamed }}
	copied := []cause{
		{name: "IPID of the one before", set: func(g *ground, p *packet.Packet) { p.IPID = g.r.Last.ID }},
		{name: "ICRC of the one before", set: func(g *ground, p *packet.Packet) { p.ICRC = g.r.Last.ICRC }},
		{name: "another response is next", set: func(g *ground, p *packet.Packet) { g.at(p).AwaitResponse(p.PSN.Add(1)) }},
		{name: "one was missing", set: func(g *ground, p *packet.Packet) {
			w := g.at(p)
			g.q.AnswerFrom(w, w.First, w.RespNext(), p.PSN.Add(-1))
		}},
		{name: "another issue", set: func(g *ground, p *packet.Packet) {
			w := g.at(p)
			g.q.AnswerFrom(w, w.First.Add(-1), w.RespNext(), w.RespNext())
		}},
		{name: "none outstanding", set: func(g *ground, _ *packet.Packet) { g.q.RdOut = 0 }},
	}
	passing := []cause{
		{name: "passes over what is acknowledged", set: func(g *ground, p *packet.Packet) { g.q.Messages.Unanswered() }, fine: true},
		{name: "passes over a READ", set: func(g *ground, p *packet.Packet) { g.q.Messages.Unanswered(); g.q.Una = g.message(2).First }},
		{name: "passes over a READ asked for again", set: func(g *ground, p *packet.Packet) { g.q.Messages.Unanswered(); g.message(3).Flags |= wqe.Reissued }},
		{name: "passes over a READ with a gap", set: func(g *ground, p *packet.Packet) { g.q.Messages.Unanswered(); g.message(3).Flags |= wqe.Gapped }},
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
		{name: "SEND First", fn: packet.SendFirst, payload: groundMTU, causes: []cause{length, {name: "empty, path MTU not known", set: func(g *ground, p *packet.Packet) { g.c.PMTU, p.PayloadLen = 0, 0 }}}},
		{name: "SEND Middle", fn: packet.SendMiddle, before: open(packet.SendFirst, 0), payload: groundMTU, causes: []cause{length, shut, lost}},
		{name: "SEND Last", fn: packet.SendLast, before: open(packet.SendFirst, 0), payload: 8, causes: []cause{empty, shut, lost}},
		{name: "WRITE Only", fn: packet.WriteOnly, payload: 8, dma: 8, causes: []cause{dma, length}},
		{name: "WRITE First", fn: packet.WriteFirst, payload: groundMTU, dma: groundMTU + 1, causes: []cause{dma, length, {name: "DMALen", set: func(_ *ground, p *packet.Packet) { p.DMALen = 1<<31 + 1 }}}},
		{name: "WRITE Middle", fn: packet.WriteMiddle, before: open(packet.WriteFirst, 2*groundMTU+1), payload: groundMTU, causes: []cause{length, shut, notWhole, blamed, {
			name: "full", set: func(g *ground, _ *packet.Packet) { g.q.Messages.Newest().Length-- },
		}}},
		{name: "WRITE Last", fn: packet.WriteLast, before: open(packet.WriteFirst, groundMTU+8), payload: 8, causes: []cause{length, empty, shut, notWhole, blamed}},
		{name: "READ", fn: packet.ReadRequest, dma: 3000, causes: []cause{
			attr,
			{name: "DMALen", set: func(_ *ground, p *packet.Packet) { p.DMALen = 1<<31 + 1 }},
			{
				name: "path MTU not known", set: func(g *ground, _ *packet.Packet) { g.c.PMTU = 0 },
			},
			{name: "its responses wrap", set: func(g *ground, p *packet.Packet) { move(g, p, -p.PSN-2) }},
			{name: "its responses end before the wrap", set: func(g *ground, p *packet.Packet) { move(g, p, -p.PSN-3) }, fine: true},
		}},
		{name: "CmpSwap", fn: packet.CmpSwap, causes: []cause{attr, {name: "VA", set: func(_ *ground, p *packet.Packet) { p.VA = 4 }}}},
		{name: "FetchAdd", fn: packet.FetchAdd, causes: []cause{attr, {name: "VA", set: func(_ *ground, p *packet.Packet) { p.VA = 4 }}, {name: "compare", set: func(_ *ground, p *packet.Packet) { p.Compare = 1 << 63 }}}},

		{name: "Acknowledge of a SEND", response: 1, causes: []cause{{name: "of a READ", set: func(g *ground, p *packet.Packet) { g.at(p).Op = wqe.Read }}, {
			name: "inside the message", set: func(g *ground, p *packet.Packet) { w := g.at(p); w.Last = w.Last.Add(1) },
		}}},
		{name: "Acknowledge of a WRITE", response: 2},
		{name: "READ response First", response: 3, causes: append([]cause{length, {name: "Middle", set: func(_ *ground, p *packet.Packet) {
			p.Opcode = packet.Op(packet.RC, packet.ReadRespMiddle)
		}}, {name: "empty, path MTU not known", set: func(g *ground, p *packet.Packet) { g.c.PMTU, p.PayloadLen = 0, 0 }}}, copied[:5]...)},
		{name: "READ response Only", response: 4, causes: append([]cause{length, {name: "First", set: func(_ *ground, p *packet.Packet) {
			p.Opcode = packet.Op(packet.RC, packet.ReadRespFirst)
		}}, {
			name: "longer than any, path MTU not known", set: func(g *ground, p *packet.Packet) { g.c.PMTU = 0; g.c.ShowPayload(7) },
		}}, copied...)},
		{name: "ATOMIC Acknowledge", response: 5, causes: append([]cause{{name: "answered in a frame", set: func(g *ground, p *packet.Packet) { g.at(p).RespFrame = 1 }}, {
			name: "of a SEND", set: func(g *ground, p *packet.Packet) { g.at(p).Op = wqe.Send },
		}, copied[5], {name: "of two PSNs", set: func(g *ground, p *packet.Packet) { w := g.at(p); w.First = w.First.Add(-1) }}}, passing...)},
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
			taken := k.response != 0 && g.expectedResponse(g.c, g.c.Ends[0].Direction, p, &expectations[p.Opcode]) || k.response == 0 && expectations[p.Opcode].known && g.expectedRequest(g.c, g.c.Ends[0].Direction, p, &expectations[p.Opcode])
			if taken != (i < 0 || causes[i].fine) {
				t.Errorf("%s, %s: taken %t", k.name, name, taken)
			}
		}
	}
}
