// Package posted compares each packet whose work request is known with the one that the request lets expect.
package posted

import (
	"fmt"
	"strings"

	"ibwitness/cq"
	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/verifier/message"
	"ibwitness/verifier/outgoing"
)

// Check is beside a verifier of messages. It is told each packet before that is.
type Check struct {
	Queues *cq.Agent
	Wire   *message.Verifier

	Requests int                   // packets of requests
	Known    int                   // those of which the work request is known
	Payloads int                   // of those, of which all of the payload was compared
	Opcodes  map[packet.Opcode]int // those that were compared
	Differs  []string              // what is not as expected, at most 10

	posted cq.Posted
	fields outgoing.Fields
}

// Packet compares a packet, and has the verifier take it.
func (c *Check) Packet(p *packet.Packet) {
	if in := p.Info(); p.ICRCState != packet.CRCBad && p.Has&packet.HasBTH != 0 && in.Request && in.Defined && !p.Copy && !p.Cut {
		c.request(p)
	}
	c.Wire.Packet(p)
}

func (c *Check) request(p *packet.Packet) {
	f := cq.Flow{Service: p.Opcode.Service(), Src: p.Src, Dst: p.Dst, To: p.DestQP}
	if p.Has&packet.HasDETH != 0 {
		f.From = p.SrcQP
	}
	c.Requests++
	c.Queues.Reach(p.Time)
	r := c.Queues.Route(&f, p.PSN, p.Time)
	if r == nil {
		return
	}
	for _, s := range r.Requests(false) {
		i, ok := c.Queues.Posted(s, s.Ordinal(p.PSN), p.PayloadLen, &c.posted)
		if !ok {
			continue
		}
		c.Known++
		if c.Opcodes == nil {
			c.Opcodes = map[packet.Opcode]int{}
		}
		c.Opcodes[p.Opcode]++
		c.compare(p, i)
	}
}

func (c *Check) compare(p *packet.Packet, i int) {
	e := expect.Like(p)
	e.Format()
	outgoing.Expect(e, &c.posted, i)
	k := e.Beside()
	if k.Outcome(expect.Payload) == expect.Equal {
		c.Payloads++
	}
	var wrong []string
	for _, f := range k.Fields() {
		if f.Outcome == expect.Differs || f.Outcome == expect.Follows {
			wrong = append(wrong, fmt.Sprintf("%s %s, expected %s", f.Name, f.Actual, f.Expected))
		}
	}
	if id, departs := c.fields.Departs(&c.posted, i, p); departs {
		wrong = append(wrong, "the fast path says that it departs in "+id.String())
	}
	if len(wrong) > 0 && len(c.Differs) < 10 {
		c.Differs = append(c.Differs, fmt.Sprintf("frame %d, %v %v, packet %d of %d of request %d: %s", p.Frame, p.Opcode, p.PSN, i, c.posted.Packets, c.posted.Request.ID, strings.Join(wrong, "; ")))
	}
}
