package qp

import "ibwitness/packet"

// nobody is the direction of which nothing is known, of a connection of which only the other was seen. Invariant: it is never written.
var nobody = NewDirection()

// Connect makes a connection of its directions, by the end that sends. Without the second, only the first was seen so far: nothing may be written of the other
// before Both.
func (c *Pair) Connect(a, b *Direction) {
	mustBeNothing()
	if Strict && *nobody != *NewDirection() {
		panic("qp: something was written of a direction that was not seen: call Pair.Both before")
	}
	if b == nil {
		b = nobody
	}
	c.Ways = [2]*Direction{a, b}
	for i := range c.Ends {
		c.Ends[i].Direction, c.Ends[i].RQ = c.Ways[i], &c.Ways[1-i].Peer
	}
}

// OneWay reports whether the first end has all that is known of the connection: of the other one there is no state.
func (c *Pair) OneWay() bool { return c.Ways[1] == nobody }

// Both has the connection keep what its second end sends.
func (c *Pair) Both() {
	if c.OneWay() {
		c.Connect(c.Ways[0], NewDirection())
	}
}

// Adopt makes the direction that another connection has followed, a one-way one, the one that the second end of c sends. moves says that the other one needs it
// no more.
func (c *Pair) Adopt(other *Pair, moves bool) {
	d := other.Ways[0]
	if moves && c.OneWay() {
		d.forgetOneWay()
		c.Connect(c.Ways[0], d)
		other.Connect(nobody, nil)
	} else {
		c.Both()
		own := c.Ways[1]
		before := *own
		own.TakeOver(d)
		own.Peer.TakeOver(&d.Peer)
		own.add(&before)
	}
	c.Ways[0].SetLone(LoneResponse{})
	c.Ways[0].SQ.dropSeldom()
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
	return c.Paired && len(c.Early()) == 0 && c.OddPayloadLen == 0 && c.Misdirected == nil && !c.Invalidated
}

// Lose notes that the tap missed some of the connection.
func (c *Pair) Lose() { c.Lossy = true }

// LearnPMTU notes the path MTU, in bytes.
func (c *Pair) LearnPMTU(pmtu uint32) { c.PMTU, c.OddPayloadLen = pmtu, 0 }

// OddPayload notes the payload of a First or Middle that is not the path MTU, in bytes; 0: that of the newest is.
func (c *Pair) OddPayload(n uint32) { c.OddPayloadLen = n }

// ShowPayload notes a payload of n bytes: the path MTU has as many at least.
func (c *Pair) ShowPayload(n uint32) { c.LeastPMTU = max(c.LeastPMTU, n) }

// CloseMisdirected forgets the packet that went to a QP of which nothing is known.
func (c *Pair) CloseMisdirected() { c.Misdirected = nil }

// Wait keeps a response until the next request was seen.
func (c *Pair) Wait(e Early) {
	s := c.some()
	s.early = append(s.early, e)
}

// Early returns the responses that wait: they were recorded before their requests, as opposite directions may be some microseconds out of order.
func (c *Pair) Early() []Early {
	if c.seldom == nil {
		return nil
	}
	return c.seldom.early
}

func (c *Pair) some() *seldom {
	if c.seldom == nil {
		c.seldom = new(seldom)
	}
	return c.seldom
}

// TakeEarly returns the responses that wait, and forgets them.
func (c *Pair) TakeEarly() []Early {
	early := c.Early()
	if c.seldom != nil {
		c.seldom.early = nil
	}
	return early
}

// DropEarly forgets the oldest of them.
func (c *Pair) DropEarly() { c.seldom.early = c.seldom.early[1:] }

// Invalidate notes that end i has named an R_Key in a SEND with Invalidate.
func (c *Pair) Invalidate(i int, key uint32) {
	c.Ends[i].SQ.Invalidate(key)
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
	for _, d := range c.Ways {
		if d != nobody {
			d.Flow.State = FlowNew
		}
	}
}

// SetGuess notes how certain it is that the two directions belong together.
func (c *Pair) SetGuess(g Guess) { c.Guessed = g }

// HoldContexts keeps what the verifier of RD knows of two end-to-end contexts.
func (c *Pair) HoldContexts(x any) { c.some().contexts = x }

// Contexts returns it; nil on other services.
func (c *Pair) Contexts() any {
	if c.seldom == nil {
		return nil
	}
	return c.seldom.contexts
}
