package incident

import (
	"fmt"
	"time"

	"ibwitness/agent"
	"ibwitness/mad"
	"ibwitness/verifier/cm"
)

// acceptedSoon is within what time, in nanoseconds, a client that is refused for want of a program gets a connection with its next try.
const acceptedSoon = int64(250 * time.Millisecond)

// Linux's client of SMB Direct asks for the port of iWARP first, then for that of InfiniBand.
const (
	smbDirect = "SMB Direct"
	smbIWARP  = "TCP port 5445"
)

// nextTry returns the connection that a client got soon after the only REJ that it got for a service, for want of a program; nil: there is none.
func (t *teller) nextTry(i *Incident, r *cm.Refusal) *agent.Connection {
	if r.Reason != mad.RejInvalidService || r.Service == "" || r.ByAsker || !t.timed() {
		return nil
	}
	for _, c := range t.serves(i.Peer.Addr) {
		if c.PairedBy == agent.ByCM && c.Ends[0].Addr == i.Local.Addr && c.Ends[1].Addr == i.Peer.Addr && c.First > i.Begin && c.First-i.Begin < acceptedSoon {
			return c
		}
	}
	return nil
}

// usual reports whether that is how each connection of a protocol begins.
func usual(c *agent.Connection, r *cm.Refusal) bool {
	return c.Upper != nil && c.Upper.Protocol == smbDirect && r.Service == smbIWARP
}

// tellNextTry says that the client of a REJ was accepted soon after.
func (i *Incident) tellNextTry(c *agent.Connection) {
	i.accepted = true
	i.show(c.FirstFrame)
	i.fact("then", fmt.Sprintf("%v accepted a connection of %v %s later, in frame %d", i.Peer.Addr, i.Local.Addr, span(c.First-i.Begin), c.FirstFrame))
	i.FitsWith = append([]string{"a client that tries one port after the other, or a program that had just begun to listen"}, i.FitsWith...)
}
