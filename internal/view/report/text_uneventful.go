package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/verifier"
)

// ofTransport begins what is said where an observation says why all is slow.
const ofTransport = "Nothing of the transport: "

// uneventful says, where nothing happened that is told, what was looked at, and what would not show; after is what of that comes after the
// observations, as one of them says why all is slow.
func (t *text) uneventful() (after string) {
	if t.res.RDMA == 0 {
		return ""
	}
	l := t.looked()
	var s []string
	if l.reliable > 0 {
		s = append(s, l.answered(t))
	} else if l.management {
		s = append(s, "every management request was answered"+t.butAwaited())
	}
	nothing := "Nothing: "
	switch {
	case t.endedSilently():
		nothing = "Nothing but a time without any frame: "
	case len(s) == 0 && len(t.incomplete()) == 0:
		nothing = "Nothing that packets show: "
	case l.retransmitted+l.nak > 0, len(t.incomplete()) > 0:
		nothing = "Nothing of note: "
	case len(t.hanging())+len(t.longTurns(longestTurn)) > 0, t.unfinishedExchange() != nil, t.limit() != "":
		nothing = ofTransport
	}
	if what := l.unacknowledged(t.counted()); what != "" {
		s = append(s, what)
	}
	if len(s) == 0 {
		return ""
	}
	t.heading("What happened")
	said := nothing + strings.Join(s, "; ") + "."
	switch u := t.unfinishedExchange(); {
	case u != nil:
		t.prose("  ", u.String())
		t.prose("  ", said)
	case nothing == ofTransport:
		after = said
	default:
		t.prose("  ", said)
	}
	for _, n := range t.res.NotJudged {
		if n.Reason == verifier.SkipCut.String() {
			t.prose("  ", fmt.Sprintf("Cut: the snap length of the capture cut %s of %s, so that what these carry, and damage to it, was not judged (tcpdump -s 0 captures them whole).",
				number(n.Count), count(t.res.RDMA, "packet")))
		}
	}
	return after
}

// unacknowledged says what shows of the services that acknowledge nothing. counted: no PSN of UD is missing.
func (l *looked) unacknowledged(counted bool) string {
	switch uc, ud := l.service[packet.UC], l.service[packet.UD]; {
	case uc && ud && counted:
		return "no PSN is missing on UC and UD, which acknowledge nothing: what else is lost shows only in event logs"
	case uc && ud:
		return "no PSN is missing on UC; UD and UC acknowledge nothing: what else is lost shows only in event logs, but for PSNs of UD that are missing"
	case uc:
		return "no PSN is missing on UC, which acknowledges nothing: what else is lost shows only in event logs"
	case ud && counted:
		return "no PSN is missing on UD, which acknowledges nothing: what else is lost shows only in event logs"
	case ud:
		return "UD acknowledges nothing: what is lost shows only in event logs, but for PSNs that are missing"
	}
	return ""
}

// looked is what there was to look at.
type looked struct {
	service            [8]bool // those of the connections; UD: beside management
	management         bool
	reliable, over     int           // connections on which requests are acknowledged, and those of them that CM has ended
	oneWay             int           // of them, those of which one direction is in the capture
	by                 []packet.Addr // who did, at most two
	at                 uint64        // frame of the first such DREQ
	left               int           // requests that had no answer when CM ended their connection
	retransmitted, nak uint64
}

func (t *text) looked() (l looked) {
	for i := range t.res.Connections {
		c := &t.res.Connections[i]
		switch {
		case c.Service == packet.UD && c.Ends[0].QPNKnown && c.Ends[1].QPNKnown && c.Ends[0].QPN <= 1 && c.Ends[1].QPN <= 1:
			l.management = true
			continue
		case !c.Service.Reliable():
			l.service[c.Service&7] = true
			continue
		case c.Ends[0].Packets == 0 && c.Ends[1].Packets == 0:
			continue // CM has told of it, and that is all
		}
		if l.reliable++; c.Closed.At != 0 {
			if l.over++; l.over == 1 {
				l.at = c.Closed.Frame
			}
			if len(l.by) < 2 && !slices.Contains(l.by, c.Closed.By) {
				l.by = append(l.by, c.Closed.By)
			}
		}
		if c.Ends[0].Packets == 0 || c.Ends[1].Packets == 0 {
			l.oneWay++
		}
		for k := range c.Ends {
			e := &c.Ends[k]
			l.retransmitted, l.nak = l.retransmitted+uint64(e.Retransmissions), l.nak+uint64(e.NAKs)
			if c.Closed.At != 0 {
				l.left += int(e.Open)
			}
		}
	}
	return l
}

// answered says what became of the requests on connections that acknowledge them.
func (l *looked) answered(t *text) (s string) {
	switch {
	case l.oneWay > 0:
		s = fmt.Sprintf("the capture shows one direction of %s only, so that it does not show what was answered there", of(l.oneWay, l.reliable))
	case l.retransmitted+l.nak > 0:
		s = fmt.Sprintf("%s retransmitted and %s sent, and every request that the capture shows was answered%s", count(l.retransmitted, "packet"), count(l.nak, "NAK"), l.but(t))
	default:
		s = "every request that the capture shows was answered" + l.but(t) + ", and none was retransmitted or refused"
	}
	if most := slowest(t.res); most > 0 && !t.disordered() {
		s += "; the slowest took " + span(most)
	}
	if t.Untimed && l.oneWay == 0 {
		s += "; --latency tells how long answers took"
	}
	ended := "CM"
	if len(l.by) == 1 && !l.by[0].IsZero() {
		ended = l.by[0].String() // whose DREQ it was
	}
	switch {
	case l.over == l.reliable && l.over > 1:
		s += "; " + ended + " ended all connections"
	case l.over == l.reliable:
		s += "; " + ended + " ended the connection"
	case l.over > 0:
		s += "; " + ended + " ended " + count(l.over, "connection")
	}
	if l.over == 1 && l.at > 0 {
		s += fmt.Sprintf(", in frame %d", l.at)
	}
	return s
}

func of(n, all int) string {
	if n == all && n == 1 {
		return "the connection"
	}
	return fmt.Sprintf("%d of %s", n, count(all, "connection"))
}

// but excepts the requests that have no answer.
func (l *looked) but(t *text) string {
	n := "one"
	if l.left > 1 {
		n = number(uint64(l.left))
	}
	switch s := t.butOpen(); {
	case l.left == 0:
		return s
	case s == "":
		return " but " + n + ", which had no answer when CM ended the connection"
	default:
		return s + ", and " + n + " that had no answer when CM ended the connection"
	}
}

// butOpen excepts the requests that have no answer when the capture ends.
func (t *text) butOpen() string { return butOpen(&t.res.Open) }

// butAwaited says how many management requests had no answer when the capture ended, however shortly they had waited.
func (t *text) butAwaited() string {
	r := t.res
	if r.AwaitedMADs <= r.Open.Requests {
		return t.butOpen()
	}
	return butOpen(&agent.Open{Requests: r.AwaitedMADs, Waited: max(r.Open.Waited, time.Duration(r.Last-r.AwaitedSince))})
}

func butOpen(o *agent.Open) string {
	n := "one"
	if o.Requests > 1 {
		n = number(o.Requests)
	}
	switch {
	case o.Requests == 0:
		return ""
	case o.Usual():
		return " but " + n + ", sent shortly before the capture ended"
	}
	return fmt.Sprintf(" but %s, which had waited %s when the capture ended", n, span(o.Waited))
}
