package incident

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// gaps tells of packets of a service that retransmits nothing which are missing before later ones.
func (t *teller) gaps(c *agent.Connection, from int, k *qp.Trouble) {
	m := &k.Missing
	if c.Service != packet.UC || m.PSNs == 0 {
		return
	}
	i := t.between(Loss, c, from)
	e := &c.Ends[from]
	if t.run.Dropped > 0 {
		i.Certainty = Likely // what is missing may be what the capture has lost
	}
	i.Begin, i.End, i.Tap = m.First.Time, m.Newest.Time, m.First.Tap
	i.show(m.First.Frame, m.Frame, m.Newest.Frame)
	where := "missing before the tap"
	if e.Near {
		where = "not in the capture, though its tap is there"
	}
	n := uint64(m.PSNs)
	i.What = fmt.Sprintf("%s that %v sent to %v %s %s (%s), in %s; UC retransmits nothing.", count(n, "packet"), &i.Local, &i.Peer, are(n), where, share(n, e.Packets+n), count(uint64(m.Gaps), "gap"))
	if k.Overtaking.All().Packets == 0 {
		messages := uint64(m.Messages)
		i.fact("messages", fmt.Sprintf("at least %s %s incomplete or missing: receivers drop the rest of what is incomplete, and nobody is told", count(messages, "message"), are(messages)))
		if m.Longest > 1 {
			i.fact("missing", fmt.Sprintf("up to %d in a row, which frame %d follows", m.Longest, m.Frame))
		} else {
			i.fact("missing", "one by one, never two in a row")
		}
	}
	i.FitsWith = []string{"congestion without flow control: a queue that drops", "a bad cable or transceiver that damages packets", "a capture that lost them without saying so"}
	if e.Near {
		i.FitsWith = []string{"a capture that lost them without saying so", "an adapter that skipped PSNs"}
	}
	i.Next = []string{"discards and errors of the switch ports and adapters between (ethtool -S), or of the ports (perfquery) on InfiniBand", "the drop counters of the mirror port and of the capturing host", "whether the program on " + i.Peer.Addr.String() + " copes with lost messages: UC leaves that to it"}
	t.tell(i, "gaps")
}

func have(n uint64) string {
	if n == 1 {
		return "has"
	}
	return "have"
}

func are(n uint64) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
