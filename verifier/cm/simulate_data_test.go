package cm_test

import (
	"fmt"

	"ibwitness/packet"
)

// traffic is the queue pair of a side: a requester with one message in flight, and a responder.
type traffic struct {
	next, una packet.PSN // of the requester
	sending   []*packet.Packet
	retries   int
	acked     int // number of the newest timer
	epsn      packet.PSN
	msn       uint32
	nak       bool
	last      int64 // when it sent last
}

// begin sets the PSNs of the queue pair, as REQ and REP say.
func (c *conn) begin() {
	c.next, c.epsn = c.req.StartingPSN, c.rep.StartingPSN
	if c.active {
		c.next, c.epsn = c.epsn, c.next
	}
	c.una = c.next
}

// speak sends messages now and then.
func (c *conn) speak() {
	left := c.IntN(6)
	var more func()
	more = func() {
		if c.state != established || left == 0 {
			return
		}
		if len(c.sending) == 0 {
			left--
			c.post()
		}
		c.After(c.between(50_000, 20_000_000), more)
	}
	c.After(c.between(0, 3_000_000), more)
}

// request makes a request of the side.
func (c *conn) request(fn packet.Fn, size int) *packet.Packet {
	p := &packet.Packet{Opcode: packet.Op(packet.RC, fn), PKey: 0xFFFF, DestQP: c.dqpn, PSN: c.next, Payload: make([]byte, size), VA: 0x10000, RKey: 0x777}
	c.next = c.next.Add(1)
	return p
}

// post sends a message.
func (c *conn) post() {
	mtu := 128 << c.req.PathMTU
	depth := c.rep.InitiatorDepth
	if c.active {
		depth = c.rep.ResponderResources
	}
	switch k := c.IntN(3); {
	case k == 0 && depth > 0:
		p := c.request(packet.ReadRequest, 0)
		p.DMALen = uint32(1 + c.IntN(mtu))
		c.sending = append(c.sending, p)
	case k == 1:
		c.sending = append(c.sending, c.request(packet.SendFirst, mtu), c.request(packet.SendMiddle, mtu), c.request(packet.SendLast, 1+c.IntN(mtu)))
	default:
		p := c.request(packet.WriteOnly, 1+c.IntN(mtu))
		p.DMALen = uint32(len(p.Payload))
		c.sending = append(c.sending, p)
	}
	c.sending[len(c.sending)-1].AckReq = true
	c.retries = 0
	c.transmit()
}

// transmit sends what is not acknowledged.
func (c *conn) transmit() {
	for i, p := range c.sending {
		q := *p
		c.After(int64(i)*2000, func() {
			if c.state == established {
				c.send(c.simHost, c.peer, &q, fmt.Sprintf("%v PSN %v to 0x%x", q.Opcode, q.PSN, q.DestQP))
			}
		})
	}
	c.acked++
	n := c.acked
	code := c.req.Primary.LocalAckTimeout
	c.After(c.between(4096<<code, 3*4096<<code)+20_000, func() {
		if c.acked == n && len(c.sending) > 0 && c.state == established {
			c.retry()
		}
	})
}

// retry retransmits it, on a timeout or for a sequence NAK, as often as the retry count allows.
func (c *conn) retry() {
	if c.retries >= int(c.req.RetryCount) {
		c.sending = nil
		c.disconnect()
		return
	}
	c.retries++
	c.transmit()
}

// data takes a packet for the queue pair.
func (c *conn) data(p *packet.Packet) {
	in := p.Info()
	if in.Request {
		if c.state == repSent {
			c.establish()
		}
		c.respond(p)
		return
	}
	if len(c.sending) == 0 {
		return
	}
	if last := c.sending[len(c.sending)-1].PSN; p.PSN.Before(c.sending[0].PSN) || last.Before(p.PSN) {
		return
	}
	nak := p.Opcode.Fn() == packet.Acknowledge && p.Syndrome == packet.NAKSequence
	for len(c.sending) > 0 && (c.sending[0].PSN.Before(p.PSN) || c.sending[0].PSN == p.PSN && !nak) {
		if c.sending[0].Opcode.Fn() == packet.ReadRequest && p.Opcode.Fn() == packet.Acknowledge {
			break
		}
		c.sending = c.sending[1:]
		c.retries = 0
	}
	switch {
	case len(c.sending) == 0:
		c.acked++
	case nak:
		c.retry()
	}
}

// respond answers a request.
func (c *conn) respond(p *packet.Packet) {
	r := &packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), PKey: 0xFFFF, DestQP: c.dqpn, PSN: p.PSN, Syndrome: packet.CreditInvalid}
	switch d := p.PSN.Diff(c.epsn); {
	case d > 0 && c.nak:
		return
	case d > 0:
		c.nak = true
		r.PSN, r.Syndrome = c.epsn, packet.NAKSequence
	case d == 0:
		c.epsn, c.nak = c.epsn.Add(1), false
		if in := p.Info(); in.Only || in.Last || p.Opcode.Fn() == packet.ReadRequest {
			c.msn++
		}
	case p.Opcode.Fn() != packet.ReadRequest:
		r.PSN = c.epsn.Add(-1)
	}
	if p.Opcode.Fn() == packet.ReadRequest && r.Syndrome == packet.CreditInvalid {
		r.Opcode, r.Payload = packet.Op(packet.RC, packet.ReadRespOnly), make([]byte, p.DMALen)
	} else if !p.AckReq && r.Syndrome == packet.CreditInvalid {
		return
	}
	r.MSN = c.msn & packet.PSNMask
	c.last = max(c.Now()+c.between(1000, 5000), c.last+1000)
	c.After(c.last-c.Now(), func() {
		if c.alive() {
			c.send(c.simHost, c.peer, r, fmt.Sprintf("%v PSN %v to 0x%x", r.Opcode, r.PSN, r.DestQP))
		}
	})
}
