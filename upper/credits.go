package upper

import "math"

// Credits is how many messages each end may still send, in a protocol whose ends grant each other that, as its headers have told since the connection began.
type Credits struct {
	Left    [2]int
	Granted [2]Grant // the newest that each end has got
	Before  [2]Grant // and the one before it
	Used    [2]Grant // its newest message, which took one
	known   bool
	over    [2]bool   // it sent a message for which it had none: what grants it some was not seen, or not heeded
	most    [2]uint8  // messages that each end has sent between two grants: the most, up to 255
	since   [2]uint16 // and since it got credits last
	asked   [2]uint16 // the fewest credits that one of these asked for
}

// Ungranted is how many messages an end has sent since its peer granted it credits last, and the most between two grants before; false: it has granted none.
func (c *Credits) Ungranted(end int) (since, before int, granted bool) {
	return int(c.since[end]), int(c.most[end]), c.Granted[end].Frame != 0
}

// Asked is the fewest credits that one of the messages asked for which an end has sent since its peer granted it credits last; 0: none, or there
// is no such message.
func (c *Credits) Asked(end int) int {
	if c.since[end] == 0 {
		return 0
	}
	return int(c.asked[end])
}

// Known reports whether Left of an end is known, where that of the connection is: it has sent no message for which it had no credit.
func (c *Credits) Known(end int) bool { return !c.over[end] }

// Grant is credits that a message grants.
type Grant struct {
	Count int
	Time  int64 // nanoseconds since the Unix epoch
	Frame uint64
}

// creditor is a decoder of a protocol that has credits.
type creditor interface {
	Credits() (c Credits, known bool)
}

// use takes the credit of a message from the end that sends it and asks for some. One that has none shows that not all was seen, or that this end
// does not heed them.
func (c *Credits) use(m *Message, asks uint16) {
	c.Left[m.From]--
	if c.since[m.From] == 0 || asks < c.asked[m.From] {
		c.asked[m.From] = asks
	}
	if c.since[m.From] < math.MaxUint16 {
		c.since[m.From]++
	}
	c.Used[m.From] = Grant{1, m.Time, m.Frame}
	if c.Left[m.From] < 0 {
		c.over[m.From] = true
	}
}

func (c *Credits) grant(to, n int, m *Message) {
	if n > 0 {
		if c.Granted[to].Frame != 0 {
			c.most[to] = max(c.most[to], uint8(min(c.since[to], math.MaxUint8)))
		}
		c.since[to] = 0
		c.Left[to] += n
		c.Before[to], c.Granted[to] = c.Granted[to], Grant{n, m.Time, m.Frame}
	}
}

// Credits returns how many messages each end may still send. Where it is not known that all messages since the connection began have been seen,
// Left is not, and the rest is of those that were.
func (t *Tracker) Credits() (c Credits, known bool) {
	d, ok := t.decoder.(creditor)
	if !ok || t.cut || t.forgot {
		return c, false
	}
	if c, known = d.Credits(); t.turned == 1 {
		c.Left[0], c.Left[1] = c.Left[1], c.Left[0]
		c.Granted[0], c.Granted[1] = c.Granted[1], c.Granted[0]
		c.Before[0], c.Before[1] = c.Before[1], c.Before[0]
		c.Used[0], c.Used[1] = c.Used[1], c.Used[0]
		c.most[0], c.most[1] = c.most[1], c.most[0]
		c.since[0], c.since[1] = c.since[1], c.since[0]
		c.asked[0], c.asked[1] = c.asked[1], c.asked[0]
		c.over[0], c.over[1] = c.over[1], c.over[0]
	}
	return c, known
}
