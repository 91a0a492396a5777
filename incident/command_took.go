package incident

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/upper"
)

// othersTook says how many commands of c took a second or longer, of which opcodes or procedures, and how long others take; common says
// that it is told what those have in common.
func othersTook(c *agent.Connection, common bool) string {
	u, usual := c.Upper, ""
	if measured := c.Timing != nil && c.Timing.Commands != nil; u.Slow*2 < u.Answers && (measured || u.Slow == 1) {
		usual = "usually " + span(int64(c.UsualCommand()))
	}
	switch {
	case u.Slow == 1 && usual != "":
		return usual + ", of " + count(u.Answers, "command")
	case u.Slow == 1:
		return ""
	case common:
		return usual
	case usual != "":
		usual = "; " + usual
	}
	return fmt.Sprintf("%s of %s took %s or longer%s%s", count(u.Slow, "command"), number(u.Ended), time.Duration(upper.SlowAfter), slowByClass(u), usual)
}

// slowByClass says of which opcodes or procedures they are, where there are several; "": there are not, or are too many.
func slowByClass(u *agent.Upper) string {
	var list []string
	for n := range u.Classes {
		if k := &u.Classes[n]; k.Slow > 0 {
			list = append(list, fmt.Sprintf("%s %s of %s", number(k.Slow), k.Name, number(k.Answers)))
		}
	}
	if len(u.Classes) < 2 || len(list) == 0 || len(list) > mostClassNames {
		return ""
	}
	return ": " + enumerate(list)
}

// heldDuring is for how long, in nanoseconds, requests of a connection were retransmitted or refused while a command waited, as far as that
// is kept, and says so.
func heldDuring(c *agent.Connection, o *agent.Operation) (held int64, text string) {
	others, least := uint32(0), int64(0)
	for k := range c.Ends {
		x := c.Ends[k].Trouble
		if x == nil {
			continue
		}
		s, kept := x.Settled(false), uint32(0)
		for i := range s.Longest {
			if l := &s.Longest[i]; l.Begun != 0 {
				kept++
				held += max(min(l.Since+l.Lost(), o.Ended)-max(l.Since, o.Since), 0)
			}
		}
		if s.Sum.Count > kept && s.Sum.Begun < o.Ended && max(s.Sum.Last, s.Sum.Ended) > o.Since {
			others, least = others+s.Sum.Count-kept, max(least, s.Longest[len(s.Longest)-1].Lost())
		}
	}
	switch {
	case held > 0:
		return held, fmt.Sprintf("retransmissions or RNR NAKs held requests on the connection up for %s of that time", span(held))
	case others > 0:
		return least, fmt.Sprintf("requests on the connection were retransmitted or refused %s, for at most %s each; whether meanwhile is not known", times(uint64(others)), span(least))
	}
	return 0, "nothing on the connection was lost or stalled for long meanwhile"
}

// moved says when the peer of i first moved data of a slow command, and that the network did not hold the command up until then, where the
// peer answered others on the connection.
func (i *Incident) moved(o *agent.Operation) string {
	m := &o.Moved
	if m.At == 0 {
		return ""
	}
	how := "wrote data of it by RDMA"
	if m.Read {
		how = "asked for its data by RDMA READ"
	}
	before, after := m.At-o.Since, o.Ended-m.At
	text := fmt.Sprintf("%v first %s %s after it was sent, in frame %d, and answered %s after that", i.Peer.Addr, how, span(before), m.Frame, span(after))
	if served := m.Served - o.Since; before > 3*after && m.Served != 0 && served*4 > before*3 {
		text += ": it answered other commands on this connection until " + span(m.At-m.Served) + " before, so that the network did not hold this one up"
	}
	return text
}

// maybeReused says that a slow command is only likely to be one, where the capture has lost packets: its answer, and the next command of
// its ID, may be among these. Data that moved late is of it for certain.
func (t *teller) maybeReused(i *Incident, o *agent.Operation) {
	if !o.Lossy && !t.lossy() || o.Moved.At != 0 && o.Moved.At-o.Since > o.Ended-o.Moved.At {
		return
	}
	i.Certainty, i.inHole = Likely, true
	i.fact("capture", "it has lost packets: the answer may be to a later command of the same ID, which it does not hold")
}

// exchange is the commands that a client sent to a server.
type exchange struct {
	server, client packet.Addr
	answers        uint64
	longest        int64
}

// answeredElsewhere says how soon other servers answered the client of slow command o meanwhile, and its server other clients; "": none is
// known to have done so.
func (t *teller) answeredElsewhere(c *agent.Connection, o *agent.Operation) string {
	if len(t.run.Connections) > mostOthers {
		return ""
	}
	client, server := c.Ends[o.From].Addr, c.Ends[1-o.From].Addr
	var list []exchange
	for n := range t.run.Connections {
		d := &t.run.Connections[n]
		u := d.Upper
		if u == nil || u.Protocol != c.Upper.Protocol || u.Slowest == nil {
			continue
		}
		x := exchange{d.Ends[1-u.Slowest.From].Addr, d.Ends[u.Slowest.From].Addr, u.Answers, u.Slowest.Ended - u.Slowest.Since}
		if (x.server == server) == (x.client == client) || commandsAnswered(d, wellInside(o.Since, o.Ended), beforeBurst(o)) == 0 {
			continue
		}
		if k := slices.IndexFunc(list, func(y exchange) bool { return y.server == x.server && y.client == x.client }); k >= 0 {
			list[k].answers, list[k].longest = list[k].answers+x.answers, max(list[k].longest, x.longest)
		} else {
			list = append(list, x)
		}
	}
	slices.SortStableFunc(list, func(a, b exchange) int { return cmp.Compare(b.longest, a.longest) })
	more := ""
	if len(list) > mostClientTold {
		more, list = fmt.Sprintf("; %d more likewise, in less", len(list)-mostClientTold), list[:mostClientTold]
	}
	var told []string
	for _, x := range list {
		told = append(told, fmt.Sprintf("%v answered %s of %v, in at most %s", x.server, count(x.answers, "command"), x.client, span(x.longest)))
	}
	return strings.Join(told, "; ") + more
}
