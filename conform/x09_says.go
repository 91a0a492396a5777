package conform

import (
	"fmt"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
)

// sayTests are those of what the completion of a receive request says, and of the credits of an ACK.
var sayTests = []*Test{completionSays, invalidatesUnknown, givesCredits}

// says is what the completion of a receive request must say.
type says struct {
	qpn   uint32
	op    cq.CompletionOp
	flags cq.CompletionFlags
	imm   uint32
	key   uint32
	n     uint32
}

func (s says) String() string {
	return fmt.Sprintf("queue pair %#x, %v, flags %#x, immediate data %#x, R_Key %#x, %d bytes", s.qpn, s.op, uint8(s.flags), s.imm, s.key, s.n)
}

// saying is what a completion says.
func saying(e *completion) says {
	s := says{qpn: e.QP.QPN, op: e.Op, flags: e.Flags & (cq.WithImm | cq.WithInv), n: e.ByteLen}
	if e.Flags&cq.WithImm != 0 {
		s.imm = e.Imm
	}
	if e.Flags&cq.WithInv != 0 {
		s.key = e.InvKey
	}
	return s
}

// telling are the messages whose end says more than that it has come, and some that do not.
var telling = []struct {
	before packet.Fn // First packet; of a message of one packet the same as end
	end    packet.Fn
	flags  cq.CompletionFlags
	op     cq.CompletionOp
}{
	{packet.SendOnly, packet.SendOnly, 0, cq.DoneRecv},
	{packet.SendOnlyImm, packet.SendOnlyImm, cq.WithImm, cq.DoneRecv},
	{packet.SendFirst, packet.SendLastImm, cq.WithImm, cq.DoneRecv},
	{packet.WriteOnlyImm, packet.WriteOnlyImm, cq.WithImm, cq.DoneRecvWriteImm},
	{packet.WriteFirst, packet.WriteLastImm, cq.WithImm, cq.DoneRecvWriteImm},
	{packet.SendOnlyInv, packet.SendOnlyInv, cq.WithInv, cq.DoneRecv},
	{packet.SendFirst, packet.SendLastInv, cq.WithInv, cq.DoneRecv},
}

var completionSays = &Test{
	ID: "X09_228", Title: "what the completion of a receive request says",
	Abstract: "Immediate data, the R_Key that was invalidated and the length come with the completion as they were sent; with SE the completion is a solicited event, and the R_Key opens nothing any more.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"Connect a queue pair of RC. For each SEND with Invalidate bind a window of type 2."},
	Procedure: []string{
		"Arm the completion queue for solicited events. Send each SEND and WRITE whose opcode has immediate data or an R_Key, and a SEND without, with and without SE; poll.",
		"Send a READ with an R_Key that was invalidated.",
	},
	Assertions: []Assertion{
		{"ours#01", "The completion says what was sent: queue pair, operation, flags, immediate data, R_Key and length."},
		{"ours#02", "There is one event for a message with SE, and none for one without."},
		{"ours#03", "The READ is refused with a NAK Remote Access Error."},
	},
	Decisions: ours,
	Breaks:    []string{"RC-INV-001"},
	run: func(r *run) {
		c := r.connect(answering)
		key := uint32(0)
		for i, x := range telling {
			for k := range 2 {
				r.again(1)
				if x.flags == cq.WithInv {
					key = c.window(0x5000_0000 + uint64(i*8192+k*4096))
				}
				c.tells(i, k == 1, key)
			}
		}
		r.at(2)
		p := c.ask(packet.ReadRequest, nil, func(p *packet.Packet) {
			p.DMALen, p.RKey, p.VA = 64, key, 0x5000_0000+uint64((len(telling)-1)*8192+4096)
		})
		c.nakked("ours#03", p, c.answer(), p.PSN, uint32(2*len(telling)), packet.NAKRemoteAccess)
	},
}

// tells sends a message of telling, and judges its completion, and the event where it is solicited.
func (c *conn) tells(i int, solicited bool, key uint32) {
	r, x := c.r, telling[i]
	c.postReceive(2 * pmtu)
	r.must(r.dev.RequestNotification(ctx, c.cq, cq.ArmSolicited))
	had, events := len(c.completions), c.notices()
	want := says{qpn: c.qp.QPN, op: x.op, flags: x.flags, n: 61}
	if x.before != x.end {
		want.n += pmtu
		c.one(x.before, pmtu, announces(pmtu+61))
	}
	if x.flags == cq.WithImm {
		want.imm = 0x0102_0304 + uint32(i)
	}
	if x.flags == cq.WithInv {
		want.key = key
	}
	p := c.one(x.end, 61, func(p *packet.Packet) {
		if x.before != x.end {
			p.DMALen = 0
		}
		p.SE, p.Imm, p.InvRKey = solicited, want.imm, want.key
	})
	c.answer()
	list := c.completed(had+1, r.soon())[had:]
	if c.once("ours#01", list, cq.Success, p) {
		got := saying(&list[0])
		r.check("ours#01", got == want, want.String(), got.String(), p)
	}
	n := 0
	if solicited {
		n = 1
	}
	events = c.notices() - events
	r.check("ours#02", events == n, fmt.Sprintf("%d events", n), fmt.Sprintf("%d events", events), p)
}

// notices is how often the completion queue has told of itself.
func (c *conn) notices() (n int) {
	for _, e := range c.r.asyncs {
		if e.Kind == cq.EvNotify && e.CQ == c.cq {
			n++
		}
	}
	return n
}

var invalidatesUnknown = &Test{
	ID: "X09_229", Title: "SEND with Invalidate of an R_Key that is none",
	Abstract: "A SEND with Invalidate that names an R_Key which is none, or one that was invalidated, does not complete with success, and the queue pair goes to ERR.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup:      []string{"For each case connect a queue pair of RC, and have the device post two receive requests."},
	Procedure:  []string{"Where the R_Key is to be an invalidated one, invalidate it by a SEND.", "Send a SEND with Invalidate that names the R_Key, and poll.", "Query the queue pair."},
	Assertions: []Assertion{{"ours#01", "It is not acknowledged."}, {"ours#02", "Its receive request completes once, with an error."}, {"ours#03", errorText}},
	Decisions:  []Decision{{"No page of it was found.", "Ours. No code of a NAK is laid down for it: any passes, or silence."}},
	run: func(r *run) {
		for i := range 2 {
			c := r.connect(answering)
			c.postReceive(64)
			c.postReceive(64)
			key := c.window(0x5000_0000 + uint64(i*4096))
			r.again(1)
			send := func() (p, got *packet.Packet) {
				p = c.ask(packet.SendOnlyInv, pattern(1, 64), func(p *packet.Packet) { p.InvRKey = key })
				return p, c.answer()
			}
			if i == 0 {
				key ^= 0x5500_0000
			} else if _, got := send(); got == nil || got.Syndrome.Type() != packet.ACK {
				r.halt("the SEND with Invalidate before the test is not acknowledged")
			}
			r.again(2)
			had := len(c.completed(i, r.soon()))
			p, got := send()
			r.check("ours#01", got == nil || got.Syndrome.Type() == packet.NAK, "a NAK or silence", happened(got, nil), p, got)
			list := c.completed(had+1, r.soon())[had:]
			c.failed("ours#02", list[:min(1, len(list))], p, got)
			r.again(3)
			c.inError("ours#03", p, got)
		}
	},
}

var givesCredits = &Test{
	ID: "X09_230", Title: "credits that a responder gives",
	Abstract: "Each ACK gives no more credits than receive requests wait, or says that there is no limit, always so with a shared receive queue; what was given is not taken back.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"Connect a queue pair of RC, and one that receives from a shared receive queue with requests."},
	Procedure: []string{
		"Have the device post receive requests one by one, up to 12, and send a WRITE after each.", "Send SENDs until no receive request is left.", "Send WRITEs to the queue pair with the shared receive queue.",
	},
	Assertions: []Assertion{
		{"ours#01", "An ACK has the credit code 31, or one of no more credits than receive requests wait."},
		{"ours#02", "The limit, MSN and credits, does not go back; a code other than 31 does not follow a 31."},
		{"ours#03", "With a shared receive queue each ACK has the credit code 31."},
	},
	Decisions: []Decision{{"No page of it was found.", "Ours. Whether a device gives credits is agreed on by communication management, which has no part here: both are taken."}},
	run: func(r *run) {
		c := r.connect(answering)
		waiting, limit := uint32(0), uint32(0)
		unlimited := false
		judge := func(p *packet.Packet) bool {
			got := c.answer()
			if got == nil || got.Syndrome.Type() != packet.ACK {
				r.halt("a request is not acknowledged")
			}
			n, limited := got.Syndrome.Credits()
			ok := r.check("ours#01", !limited || n <= waiting, fmt.Sprintf("at most %d credits, or no limit", waiting), got.Syndrome.String(), p, got)
			if limited {
				ok = r.check("ours#02", !unlimited && got.MSN+n >= limit, fmt.Sprintf("a limit of %d or more", limit), got.Syndrome.String(), p, got) && ok
				limit = got.MSN + n
			} else {
				r.check("ours#02", true, "", "no limit", p, got)
				unlimited = true
			}
			return ok
		}
		r.at(1)
		for range 12 {
			c.postReceive(64)
			waiting++
			if !judge(c.ask(packet.WriteOnly, pattern(1, 64), nil)) {
				return
			}
		}
		r.at(2)
		for range 12 {
			waiting--
			if !judge(c.ask(packet.SendOnly, pattern(1, 64), nil)) {
				return
			}
		}
		r.at(3)
		srq, _ := r.shared(3, 64)
		s := r.connectAs(qp.TypeRC, answering, sharing(srq))
		for range 3 {
			p := s.ask(packet.WriteOnly, pattern(1, 64), nil)
			got := s.answer()
			r.check("ours#03", got != nil && got.Syndrome == positive, "ACK without a limit", happened(got, nil), p, got)
		}
	},
}
