package report

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/verifier/ud"
	"ibwitness/wqe"
)

// Of how many datagrams on the PSNs that are missing between them are told, up to which share, as one of so many: a queue pair of which more is missing sends to others, which the tap does not see. And how
// many queue pairs are named.
const (
	fewestDatagrams = 32
	missingShare    = 4
	streamsTold     = 3
	// fewestEchoes is how many datagrams a queue pair sends of which none was answered, and those that are like it.
	fewestEchoes = 16
)

// datagramsMissing tells of the PSNs that are missing among the datagrams of a queue pair: UD acknowledges nothing, and nobody asks for what is lost.
func (t *text) datagramsMissing() {
	list := t.incomplete()
	for i, s := range list {
		if i == streamsTold && !t.All {
			t.prose("  ", fmt.Sprintf("… and of %s so; --all tells every one.", count(len(list)-i, "more queue pair")))
			return
		}
		t.prose("  ", t.missingOf(&s))
	}
}

// incomplete lists the queue pairs of UD that have sent datagrams of which a small part is missing.
func (t *text) incomplete() (list []ud.Stream) {
	if t.res.Dropped > 0 {
		return nil // the capture says that it lost packets
	}
	for _, s := range t.res.Streams {
		if n := s.Missing(); n > 0 && !s.Restarted && s.Datagrams >= fewestDatagrams && n*missingShare <= s.PSNs {
			list = append(list, s)
		}
	}
	return list
}

func (t *text) missingOf(s *ud.Stream) string {
	n := s.Missing()
	words := fmt.Sprintf("Missing: %s of %s PSNs of %v (%s)", number(n), number(s.PSNs), queuePair(s.From), share(n, s.PSNs))
	switch {
	case s.Gaps > 1 && s.Longest == 1 && len(t.res.Taps) == 1:
		words += fmt.Sprintf(", one by one, before frames %d to %d", s.Frame, s.Newest)
	case s.Gaps > 1 && len(t.res.Taps) == 1:
		words += fmt.Sprintf(", in %s of up to %s, before frames %d to %d", count(s.Gaps, "gap"), number(s.Longest), s.Frame, s.Newest)
	case s.Gaps == 1 && len(t.res.Taps) == 1:
		words += fmt.Sprintf(", before frame %d", s.Frame)
	}
	to := count(len(s.To), "queue pair")
	if len(s.To) == 1 {
		to = queuePair(s.To[0])
	}
	words += fmt.Sprintf(", between datagrams to %s. UD counts them up by one for each datagram: these were lost before the tap, or by the capture, or went to where the tap does not see.", to)
	if other := t.wholeTo(s); other != nil {
		words += fmt.Sprintf(" Of %v, which sends there too, none of %s is missing.", queuePair(other.From), number(other.PSNs))
	}
	return words
}

// wholeTo returns a queue pair that sends datagrams to the same one, and of which none is missing; nil: there is none.
func (t *text) wholeTo(s *ud.Stream) *ud.Stream {
	for i := range t.res.Streams {
		if o := &t.res.Streams[i]; o.Missing() == 0 && !o.Restarted && o.Datagrams >= fewestDatagrams && len(s.To) == 1 && slices.Contains(o.To, s.To[0]) {
			return o
		}
	}
	return nil
}

func queuePair(q wqe.QP) string { return fmt.Sprintf("%v %s", q.Addr, qp(q.QPN, true)) }

// unechoed tells of queue pairs that sent no datagram back, where others sent one for each.
func (t *text) unechoed() {
	var silent []*agent.Connection
	echoes, datagrams := 0, uint64(0)
	for i := range t.res.Connections {
		c := &t.res.Connections[i]
		a, b := &c.Ends[0], &c.Ends[1]
		switch {
		case c.Service != packet.UD || a.QPN <= 1 || b.QPN <= 1 || a.Packets < fewestEchoes:
		case b.Packets == 0 && b.QPN != packet.PSNMask && t.sends(b.Addr):
			silent = append(silent, c)
		case a.Packets-b.Packets+1 <= 2: // one may be on its way
			echoes, datagrams = echoes+1, datagrams+b.Packets
		case b.Packets > 0:
			return // datagrams are not answered one by one
		}
	}
	if echoes < 2 || len(silent) > echoes {
		return
	}
	for _, c := range silent {
		t.prose("  ", fmt.Sprintf("No datagram back: %v %s sent none for %s of %v %s, where %s sent one for each (%s). UD acknowledges nothing: there may be no such queue pair, or none that takes them (its Q_Key, or no receive request), or a program that does not answer, or they or its answers were lost.",
			c.Ends[1].Addr, qp(c.Ends[1].QPN, true), number(c.Ends[0].Packets), c.Ends[0].Addr, qp(c.Ends[0].QPN, true), count(echoes, "other queue pair"), number(datagrams)))
	}
}

// sends reports whether the capture holds packets of a host.
func (t *text) sends(a packet.Addr) bool {
	return slices.ContainsFunc(t.res.Connections, func(c agent.Connection) bool {
		return c.Ends[0].Addr == a && c.Ends[0].Packets > 0 || c.Ends[1].Addr == a && c.Ends[1].Packets > 0
	})
}

// counted says whether the PSNs of all queue pairs of UD show that none was lost before the tap.
func (t *text) counted() bool {
	n := 0
	for i := range t.res.Connections {
		if c := &t.res.Connections[i]; c.Service == packet.UD && (c.Ends[0].QPN > 1 || c.Ends[1].QPN > 1) {
			n++
		}
	}
	return n > 0 && len(t.res.Streams) > 0 && !slices.ContainsFunc(t.res.Streams, func(s ud.Stream) bool { return s.Missing() > 0 || s.Restarted })
}
