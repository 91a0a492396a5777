package incident

import (
	"fmt"
	"time"

	"ibwitness/agent"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier/cm"
)

// vain are the attempts of a host to connect to a service of another that had no answer, until it gave up (REJ for timeout).
type vain struct {
	attempts []*cm.Unanswered
	first    *rule.Finding // REJ
	frames   []uint64      // of the REJs
	all      refused
}

// unansweredREQ returns the REQ that had no answer until its sender gave it up with a REJ; nil: there is none, or something came to it.
func (t *teller) unansweredREQ(f *rule.Finding) *cm.Unanswered {
	if r, _ := cm.ParseRefusal(f.Detail); !r.ByAsker || r.Reason != mad.RejTimeout {
		return nil
	}
	for k := range t.run.REQs {
		if q := &t.run.REQs[k]; q.Waits == cm.ForGaveUp && q.EndFrame == f.Frame && q.Tap == f.Tap && !q.SIDR && !t.connected(q) {
			return q
		}
	}
	return nil
}

// add notes an attempt, and the REJ that ended it.
func (v *vain) add(q *cm.Unanswered, f *rule.Finding) {
	if v.first == nil {
		v.first = f
	}
	v.attempts, v.frames = append(v.attempts, q), append(v.frames, f.Frame)
	v.all.at, v.all.last = append(v.all.at, f.Time), f
}

// triedInVain tells of them, with those that had not been given up when the capture ended.
func (t *teller) triedInVain(v *vain) {
	r, _ := cm.ParseRefusal(v.first.Detail)
	q := *v.attempts[0]
	for k := range t.run.REQs {
		if o := &t.run.REQs[k]; o.Waits == cm.ForREP && !o.SIDR && o.From == q.From && o.To == q.To && o.Service == q.Service &&
			o.First > q.First && !t.connected(o) {
			v.attempts = append(v.attempts, o)
			t.foldREQ(o)
		}
	}
	n, end := uint64(0), v.all.last.Time
	for _, o := range v.attempts {
		n += uint64(o.Times)
		if o.Last > q.Last {
			q.Last, q.Frame = o.Last, o.Frame
		}
	}
	q.Times = uint16(min(n, 1<<16-1))
	i := rejection(v.first, &r)
	end = max(end, q.Last)
	i.Kind, i.Begin, i.End, i.Lost, i.FitsWith, i.Next = Ignored, q.First, end, time.Duration(end-q.First), nil, nil
	i.Connections, i.listed = len(v.attempts), true
	i.show(v.frames...)
	i.show(q.Frame)
	i.What = fmt.Sprintf("%v answered none of %s of %v (%s%s)", q.To, count(n, "REQ"), q.From, count(uint64(len(v.attempts)), "attempt"), t.sinceStart(q.First))
	rejs := fmt.Sprintf("the REJs (reason 4, timeout) are %v's own", q.From)
	if len(v.frames) == 1 {
		rejs = fmt.Sprintf("the REJ (reason 4, timeout) is %v's own", q.From)
	}
	if t.hosts[q.To].last == 0 {
		i.What += fmt.Sprintf("; %s%v is in the capture; %s.", t.nothingOf(), q.To, rejs)
	} else {
		i.What += "; " + rejs + "."
	}
	i.fact("gave up", fmt.Sprintf("%s, in %s", times(uint64(len(v.frames))), framesOf(v.frames))+
		t.within(": %s after the first REQ of an attempt", v.first.Time-q.First))
	if t.hosts[q.To].last != 0 || t.answersPings(q.To, q.First) != "" {
		t.peer(i, &agent.Connection{}, 0, q.First, q.Last, "the first of these")
	}
	t.ignoredReasons(i, &q)
	t.acceptedLater(i, &r, &v.all)
	t.tell(i, v.first.Detail)
}

// sinceStart says from when on something was, as a part of a sentence; "": that is not known.
func (t *teller) sinceStart(at int64) string {
	if !t.timed() {
		return ""
	}
	return ", from " + t.offset(at) + " on"
}

// nothingOf says that a host has sent nothing, where the capture holds nothing but RDMA, and else no RDMA.
func (t *teller) nothingOf() string {
	if t.run.Packets == t.run.RDMA {
		return "nothing of "
	}
	return "no InfiniBand or RoCE packet of "
}

// framesOf names one frame, or several.
func framesOf(list []uint64) string {
	if len(list) == 1 {
		return fmt.Sprintf("frame %d", list[0])
	}
	return "frames " + inFrames(list)
}

// foldREQ notes that an incident of others tells of a REQ.
func (t *teller) foldREQ(q *cm.Unanswered) {
	if t.folded == nil {
		t.folded = map[*cm.Unanswered]bool{}
	}
	t.folded[q] = true
}

// unseen has a REQ to a host of which no RDMA is in the capture, and nothing else that shows that it is up, fit what keeps the two apart.
func (t *teller) unseen(i *Incident, from, to packet.Addr) {
	i.Next = append(i.Next,
		fmt.Sprintf("on %v: from which address (GID) and interface it asks, and whether those are meant for %v (ip route get, rdma link)", from, to),
		fmt.Sprintf("routes, VLANs and filters (UDP port 4791) from %v to %v and back", from, to),
		captureAt(to.String())+"whether the REQs arrive there, and whether an answer leaves")
}

// throughGateway says that a REQ goes to a gateway whose Ethernet address is a virtual one. routed says that this gateway passes IP between the two.
func (i *Incident) throughGateway(q *cm.Unanswered, routed bool) {
	by := virtualRouter(q.Station)
	if by == "" {
		return
	}
	i.fact("through", fmt.Sprintf("a gateway: the REQs go to the Ethernet address %s, one of %s", station(q.Station), by))
	if routed {
		return
	}
	i.FitsWith = append(i.FitsWith,
		fmt.Sprintf("an address (GID) or interface of %v that is not meant for %v", q.From, q.To),
		fmt.Sprintf("a gateway without a route to %v, or a route back to %v that is missing", q.To, q.From))
}

// virtualRouter is the protocol by which routers share an Ethernet address; "": that is none.
func virtualRouter(a uint64) string {
	switch {
	case a>>8 == 0x00005E0001, a>>8 == 0x00005E0002:
		return "VRRP"
	case a>>8 == 0x00000C07AC, a>>12 == 0x00000C9FF:
		return "HSRP"
	}
	return ""
}
