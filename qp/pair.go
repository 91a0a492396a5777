package qp

import "ibwitness/packet"

// Certain reports whether nothing is open about a connection as a whole.
func (c *Pair) Certain() bool {
	return c.Paired && len(c.Early) == 0 && c.OddPayloadLen == 0 && c.Misdirected == nil && !c.Invalidated
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
func (c *Pair) Wait(e Early) { c.Early = append(c.Early, e) }

// TakeEarly returns the responses that wait, and forgets them.
func (c *Pair) TakeEarly() []Early {
	early := c.Early
	c.Early = c.Early[:0:0]
	return early
}

// DropEarly forgets the oldest of them.
func (c *Pair) DropEarly() { c.Early = c.Early[1:] }

// Invalidate notes that end i has named an R_Key in a SEND with Invalidate.
func (c *Pair) Invalidate(i int, key uint32) {
	c.Ends[i].SQ.InvRKey = key
	c.Invalidated = true
}

// Revalidate notes that end i may use that R_Key again.
func (c *Pair) Revalidate(i int) {
	c.Ends[i].SQ.InvRKey = 0
	c.Invalidated = c.Ends[1-i].SQ.InvRKey != 0
}

// Reencapsulate notes that the packets of the connection have another encapsulation than the first had.
func (c *Pair) Reencapsulate(e packet.Encap) { c.Encap = e }

// SetGuess notes how certain it is that the two directions belong together.
func (c *Pair) SetGuess(g Guess) { c.Guessed = g }

// HoldContexts keeps what the verifier of RD knows of two end-to-end contexts.
func (c *Pair) HoldContexts(x any) { c.Contexts = x }
