package incident

import (
	"fmt"
	"strings"

	"ibwitness/agent"
	"ibwitness/packet"
)

// expects is the PSN that the responder of some responses expects: that for which a NAK asks, or the one after what it acknowledges again. A
// responder in software acknowledges 0xffffff where it has received nothing yet, whatever it expects: false.
func expects(l *agent.Lone) (psn packet.PSN, known bool) {
	switch {
	case l.NAK:
		return l.Newest, true
	case l.First != l.Newest || l.Newest == packet.PSNMask:
		return 0, false
	}
	return l.Newest.Add(1), true
}

// swappedPSN says how a PSN has the bytes of another one the other way round; "": it has not.
func swappedPSN(a, b packet.PSN) string {
	in24 := func(p packet.PSN) packet.PSN { return p&0xFF<<16 | p&0xFF00 | p>>16 }
	in32 := func(p packet.PSN) packet.PSN { return p&0xFF00<<8 | p>>16<<8 } // what 24 bits hold of 4 bytes
	switch {
	case a == b:
	case in24(a) == b:
		return "the same bytes in reverse order"
	case in32(a) == b && b != 0:
		return "what 24 bits hold of the first with its 4 bytes in reverse order"
	case in32(b) == a && a != 0:
		return "what 24 bits hold of it with its 4 bytes in reverse order is the first"
	}
	return ""
}

// startsDiffer is with which PSN the requests of a connection begin, and which one their responder expects.
type startsDiffer struct {
	c        *agent.Connection
	sent     packet.PSN
	expected packet.PSN
	known    bool   // expected is
	swapped  string // as swappedPSN says; "": it is not
}

// startsOf returns those of connection c, whose end from sends, by the responses of d.
func startsOf(c, d *agent.Connection, from int) (s startsDiffer) {
	s.c, s.sent = c, c.Ends[from].Trouble.Now.Request.First
	if s.expected, s.known = expects(d.Lone); s.known {
		s.swapped = swappedPSN(s.sent, s.expected)
	}
	return s
}

// mostLikewise is of up to how many connections between two hosts those are looked for that are like one.
const mostLikewise = 64

// startsLikewise says what PSNs the other connections of the hosts of c begin with, and their responders expect, where it is so of them, too;
// "": of none. swapped says that all of them are swapped.
func (t *teller) startsLikewise(c *agent.Connection, local packet.Addr) (said string, swapped bool) {
	list := t.siblings(c)
	swapped = true
	var others []string
	for _, o := range list[:min(len(list), mostLikewise)] {
		from, one := onlyEnd(o)
		if o == c || !one || o.Ends[from].Addr != local {
			continue
		}
		if d := answersBeside(list, o); d != nil {
			s := startsOf(o, d, from)
			if !s.known {
				continue
			}
			swapped = swapped && s.swapped != ""
			others = append(others, fmt.Sprintf("%v and %v from frame %d on", s.sent, s.expected, o.FirstFrame))
		}
	}
	if len(others) == 0 {
		return "", swapped
	}
	return strings.Join(others[:min(len(others), attemptsTold)], ", "), swapped
}
