package subnet

import (
	"ibwitness/mad"
	"ibwitness/packet"
)

// Unanswered is the management requests of a class from one port to another to which the capture holds no answer, though there was time for one.
type Unanswered struct {
	From, To packet.Addr
	Route    string // the directed route to the responder; empty: the requests have LIDs or GIDs
	Node     string // description of the responder; empty: not known
	Class    mad.Class
	Asked    uint64 // requests in all; 0: not counted
	Requests uint64 // of them without an answer
	Again    uint64 // retransmissions of these
	Names    []AttributeCount
	First    int64  // when the first of them was sent, nanoseconds since the Unix epoch
	Last     int64  // when one of them was sent last, copies included
	Answered int64  // when the responder last answered a request of the class; 0: it never did
	Frame    uint64 // of First
	Newest   uint64 // frame of Last
	Tap      uint16
	PKey     uint16
	Reached  bool // the responder has answered something, then or at another time
	// Others is how many other ports have answered all that From asked them of the class, and one since First; that was OthersAsked requests. Other is the only one of them.
	Others      int
	OthersAsked uint64
	Other       packet.Addr
}

// Served is the requests of a class from one port to another, all of which were answered.
type Served struct {
	From, To packet.Addr
	Class    mad.Class
	Asked    uint64
	Answered int64 // when the last was, nanoseconds since the Unix epoch
}

// Elsewhere notes what another port has answered.
func (u *Unanswered) Elsewhere(s *Served) {
	if s.From != u.From || s.To == u.To || s.Class != u.Class || s.Answered < u.First {
		return
	}
	u.Others, u.OthersAsked = u.Others+1, u.OthersAsked+s.Asked
	if u.Other = s.To; u.Others > 1 {
		u.Other = packet.Addr{}
	}
}

// AttributeCount is how many requests of an attribute have no answer, the most frequent first.
type AttributeCount struct {
	Name  string
	Count uint64
}

// Add counts a request without an answer, first sent and last sent at these times, in these frames.
func (u *Unanswered) Add(name string, again uint64, first, last int64, frame, newest uint64) {
	if u.Requests == 0 || first < u.First || first == u.First && frame < u.Frame {
		u.First, u.Frame = first, frame
	}
	if u.Requests == 0 || last > u.Last || last == u.Last && newest > u.Newest {
		u.Last, u.Newest = last, newest
	}
	u.Requests++
	u.Again += again
	for i := range u.Names {
		if u.Names[i].Name == name {
			u.Names[i].Count++
			return
		}
	}
	u.Names = append(u.Names, AttributeCount{name, 1})
}
