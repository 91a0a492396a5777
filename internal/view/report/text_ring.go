package report

import (
	"fmt"
	"time"

	"ibwitness/packet"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// slowestOfRing tells of a host of a ring or a chain that takes long to answer others, while each of these goes on soon once it has what it waits for; atTimes: not always. "": there is none.
func (t *text) slowestOfRing(hosts []packet.Addr, list []timing.Link) (told string, atTimes bool) {
	s, ok := timing.SlowestOf(len(hosts), list)
	if !ok {
		return "", false
	}
	by := hosts[s.Host]
	acknowledged := t.acknowledgedBy(by)
	where := "so its program or host is slow (it computes, or is stopped): look there"
	if s.Long == 0 && s.Usual < longTimes*acknowledged {
		where = "so it may be far away, or its adapter or host slow, or the path to it"
	}
	peers := make([]packet.Addr, 0, len(s.Peers))
	for _, h := range s.Peers {
		peers = append(peers, hosts[h])
	}
	when, long := "", fmt.Sprintf(" (at most %s)", span(s.Most))
	if s.Long > 0 {
		when, long = " at times", fmt.Sprintf(", but %s %s or more (at most %s)", times(uint64(s.Long)), span(s.From), span(s.Most))
	}
	return fmt.Sprintf("Waits: all wait for %v%s. It answers each message of %s with one of its own, usually %s later%s; each of the %s usually goes on within %s once a message has come to it. Of %s in which any of them owed an answer, %s passed until %v went on. Its adapter usually acknowledges within %s, %s.",
		by, when, someHosts(peers), span(s.Usual), long, count(s.Hosts, "other host"), span(s.Others), span(s.Busy), span(s.Own), by, span(acknowledged), where), s.Long > 0
}

// betweenRounds reports whether a turn took long as none of the hosts of a ring had anything to send.
func (t *text) betweenRounds(x *timing.Turns) bool {
	if x.Most < timing.LongTurn {
		return false
	}
	if !t.rounds.known {
		t.rounds.known = true
		if hosts, list := t.exchanges(); len(hosts) <= mostWaiting {
			t.rounds.idle = timing.SettledOf(list)
		}
	}
	began := x.At - int64(x.Most)
	for _, s := range t.rounds.idle {
		if (min(s.End, x.At)-max(s.Begin, began))*2 > int64(x.Most) {
			return true
		}
	}
	return false
}

// acknowledgedBy is how long the SENDs and WRITEs to a host usually waited for its ACK once their last packet was sent, or, where that is not known, since
// they began: the most on any connection.
func (t *text) acknowledgedBy(host packet.Addr) (usual time.Duration) {
	for i := range t.res.Connections {
		c := &t.res.Connections[i]
		for k := range c.Ends {
			if c.Timing == nil || c.Ends[1-k].Addr != host {
				continue
			}
			if w := c.Timing.Ends[k].Acks.Usual(); w > 0 {
				usual = max(usual, w)
				continue
			}
			for _, op := range [...]wqe.Op{wqe.Send, wqe.Write} {
				if o := c.Timing.Ends[k].Ops[op]; o != nil {
					usual = max(usual, o.Quantile(0.5))
				}
			}
		}
	}
	return usual
}
