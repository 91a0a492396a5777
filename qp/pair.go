package qp

import (
	"math"
	"reflect"

	"ibwitness/packet"
)

// nobody is the direction of which nothing is known, of a connection of which only the other was seen. Invariant: it is never written.
var nobody = NewDirection()

// Connect makes a connection of its directions, by the end that sends. Without the second, only the first was seen so far: nothing may be written of the other
// before Both.
func (c *Pair) Connect(a, b *Direction) {
	mustBeNothing()
	if Strict && *nobody != *NewDirection() {
		panic("qp: something was written of a direction that was not seen: call Pair.Both before")
	}
	if Strict && !reflect.ValueOf(nothing).Elem().IsZero() {
		panic("qp: something was written of a connection that has nothing of it: call Pair.some before")
	}
	if b == nil {
		b = nobody
	}
	if !c.seldom {
		c.Seldom = nothing
	}
	c.Ends[0].Direction, c.Ends[1].Direction = a, b
}

// OneWay reports whether the first end has all that is known of the connection: of the other one there is no state.
func (c *Pair) OneWay() bool { return c.Ends[1].Direction == nobody }

// Both has the connection keep what its second end sends.
func (c *Pair) Both() {
	if c.OneWay() {
		c.Connect(c.Ends[0].Direction, NewDirection())
	}
}

// Adopt makes the direction that another connection has followed, a one-way one, the one that the second end of c sends. moves says that the other one needs it
// no more.
func (c *Pair) Adopt(other *Pair, moves bool) {
	d := other.Ends[0].Direction
	if moves && c.OneWay() {
		d.forgetOneWay()
		c.Connect(c.Ends[0].Direction, d)
		other.Connect(nobody, nil)
	} else {
		c.Both()
		own := c.Ends[1].Direction
		before := *own
		own.TakeOver(d)
		own.Peer.TakeOver(&d.Peer)
		own.add(&before)
	}
	c.Unlook()
	c.Ends[0].SetLone(LoneResponse{})
	c.Ends[0].SQ.dropSeldom()
}

// Count adds what another queue pair has sent, which was this one.
func (q *QP) Count(other *QP) {
	q.add(other.Direction)
}

// NewPair returns a connection of a service, of which nothing is known.
func NewPair(s packet.Service) *Pair {
	c := &Pair{Service: s}
	c.Connect(NewDirection(), NewDirection())
	return c
}

// Certain reports whether nothing is open about a connection as a whole.
func (c *Pair) Certain() bool {
	return c.Paired && !c.Invalidated && c.oddPayload == 0 && (!c.seldom || len(c.early) == 0 && c.Misdirected == nil)
}

// WithdrawNear takes back that the tap is near an end.
func (c *Pair) WithdrawNear() {
	for i := range c.Ends {
		if c.Ends[i].Near {
			c.some().NearWithdrawn[i] = true
			c.Ends[i].Near = false
		}
	}
}

// Between notes the addresses of the two ends.
func (c *Pair) Between(a, b packet.Addr) {
	c.Ends[0].Addr, c.Ends[1].Addr, c.Ends[0].bucket = a, b, uint8(packet.Bucket(a, b))
}

// Bucket is the bucket of the addresses of its ends.
func (c *Pair) Bucket() int { return int(c.Ends[0].bucket) }

// Lose notes that the tap missed some of the connection.
func (c *Pair) Lose() { c.Lossy = true }

// LearnPMTU notes the path MTU, in bytes.
func (c *Pair) LearnPMTU(pmtu uint32) { c.PMTU, c.oddPayload = pmtu, 0 }

// OddPayload notes the payload of a First or Middle that is not the path MTU, in bytes; 0: that of the newest is.
func (c *Pair) OddPayload(n uint32) { c.oddPayload = payload(n) }

// OddPayloadLen is the payload of the newest First or Middle packet, in bytes, where it is not PMTU; else 0.
func (c *Pair) OddPayloadLen() uint32 { return uint32(c.oddPayload) }

// ShowPayload notes a payload of n bytes: the path MTU has as many at least.
func (c *Pair) ShowPayload(n uint32) { c.leastPMTU = max(c.leastPMTU, payload(n)) }

// LeastPMTU is how many bytes the path MTU has at least, while it is not known: the greatest payload.
func (c *Pair) LeastPMTU() uint32 { return uint32(c.leastPMTU) }

// payload is the length of a payload, as far as lengths in headers go.
func payload(n uint32) uint16 { return uint16(min(n, math.MaxUint16)) }

// FoundWrongService reports whether there is a WrongService, for a packet that is likely to be a usual one.
func (c *Pair) FoundWrongService() bool { return c.seldom && c.WrongService != nil }

// SetWrongService notes a packet of another service, or nil.
func (c *Pair) SetWrongService(p *packet.Packet) {
	if p != nil || c.seldom {
		c.some().WrongService = p
	}
}

// Misdirect notes a packet to a QP that nothing is known of, which this connection may have expected.
func (c *Pair) Misdirect(p *packet.Packet) { c.some().Misdirected = p }

// CloseMisdirected forgets the packet that went to a QP of which nothing is known.
func (c *Pair) CloseMisdirected() {
	if c.seldom {
		c.some().Misdirected = nil
	}
}

// Announce notes when CM has announced the connection.
func (c *Pair) Announce(at int64) { c.some().CMTime = at }

// Keep keeps x for who tells connections apart, as Beside.
func (c *Pair) Keep(x any) { c.some().Beside = x }

// Wait keeps a response until the next request was seen.
func (c *Pair) Wait(e Early) {
	s := c.some()
	s.early = append(s.early, e)
}

// Early returns the responses that wait: they were recorded before their requests, as opposite directions may be some microseconds out of order.
func (c *Pair) Early() []Early { return c.early }

// TakeEarly returns the responses that wait, and forgets them.
func (c *Pair) TakeEarly() []Early {
	early := c.early
	if early != nil {
		c.some().early = nil
	}
	return early
}

// DropEarly forgets the oldest of them.
func (c *Pair) DropEarly() { c.some().early = c.early[1:] }

// Invalidate notes that end i has named an R_Key in packet p, which ends a SEND with Invalidate.
func (c *Pair) Invalidate(i int, p *packet.Packet) {
	c.Ends[i].SQ.Invalidate(p.InvRKey)
	c.Ends[i].SQ.noteInvalidation(p)
	c.Invalidated = true
}

// Revalidate notes that end i may use that R_Key again.
func (c *Pair) Revalidate(i int) {
	c.Ends[i].SQ.Invalidate(0)
	c.Invalidated = c.Ends[1-i].SQ.InvRKey != 0
}

// Reencapsulate notes that the packets of the connection have another encapsulation than the first had.
func (c *Pair) Reencapsulate(e packet.Encap) { c.Encap = e }

// ForgetFlows has the next packet of each direction be the first of its flow.
func (c *Pair) ForgetFlows() {
	for i := range c.Ends {
		if d := c.Ends[i].Direction; d != nobody {
			d.Flow.State = FlowNew
		}
	}
}

// SetGuess notes how certain it is that the two directions belong together.
func (c *Pair) SetGuess(g Guess) { c.Guessed = g }

// HoldContexts keeps what the verifier of RD knows of two end-to-end contexts.
func (c *Pair) HoldContexts(x any) { c.some().contexts = x }

// Contexts returns it; nil on other services.
func (c *Pair) Contexts() any { return c.contexts }
