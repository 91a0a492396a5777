package incident

import (
	"fmt"
	"time"

	"ibwitness/agent"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/subnet"
)

// responder is who management requests of a class went to.
type responder struct {
	to    packet.Addr
	route string
	class mad.Class
}

// asked is the requests that a responder has not answered, of all who asked it.
type asked struct {
	most   *subnet.Unanswered // of the requester that has the most of them
	others int                // requesters beside that one
	subnet.Unanswered
}

// managed tells of management requests that nothing answered.
func (t *teller) managed() {
	all := map[responder]*asked{}
	var order []*asked
	for k := range t.run.MADs {
		u := &t.run.MADs[k]
		r := responder{u.To, u.Route, u.Class}
		if a := all[r]; a != nil {
			a.add(u)
			continue
		}
		a := &asked{most: u, Unanswered: *u}
		a.Names = append([]subnet.AttributeCount(nil), u.Names...)
		all[r], order = a, append(order, a)
	}
	for _, a := range order {
		if a.telling() {
			t.unserved(a)
		}
	}
}

// add adds what another requester asked.
func (a *asked) add(u *subnet.Unanswered) {
	a.others++
	if u.Requests > a.most.Requests {
		a.most = u
	}
	a.Asked, a.Requests, a.Again = a.Asked+u.Asked, a.Requests+u.Requests, a.Again+u.Again
	a.First, a.Last, a.Answered, a.Reached = min(a.First, u.First), max(a.Last, u.Last), max(a.Answered, u.Answered), a.Reached || u.Reached
next:
	for _, n := range u.Names {
		for i := range a.Names {
			if a.Names[i].Name == n.Name {
				a.Names[i].Count += n.Count
				continue next
			}
		}
		a.Names = append(a.Names, n)
	}
}

// From how many requests without an answer on they are worth telling though none was retransmitted, and others were answered meanwhile: so many, and a tenth.
const (
	fewUnanswered = 3
	tenth         = 10
)

// telling reports whether it is more than a request or two that the responder does not know, as a tool sends them that tries what there is.
func (a *asked) telling() bool {
	switch {
	case a.Again > 0:
		return true
	case a.Asked == 0: // nobody has counted those that were answered
		return a.Requests >= fewUnanswered
	case a.Answered < a.First:
		return a.Requests > 1
	}
	return a.Requests >= fewUnanswered && a.Requests*tenth >= a.Asked
}

// silent reports whether nothing was answered since the first of them.
func (a *asked) silent() bool { return a.Answered < a.First && (a.Asked > 0 || !a.Reached) }

// unserved tells of the requests that a responder has not answered.
func (t *teller) unserved(a *asked) {
	u := a.most
	i := &Incident{
		Kind: Unserved, Certainty: Likely, Local: Party{Addr: u.From}, Peer: Party{Addr: u.To}, Connections: 1, Begin: a.First, End: t.run.Last, Ongoing: a.Answered < a.Last, Tap: u.Tap,
	}
	if a.Again > 0 && u.Class != mad.ClassSubnetDirected {
		i.Certainty = Proven // the requester has no answer either
	}
	if t.lossy() {
		i.Certainty = min(i.Certainty, Likely) // the answers may be among what the capture has lost
	}
	if a.silent() {
		i.Lost = time.Duration(t.run.Last - a.First)
	}
	i.show(u.Frame, u.Newest)
	i.What = a.sentence(t)
	i.fact("requests", a.requests())
	i.fact("answers", a.answers(t))
	i.fact("others", a.elsewhere())
	if t.hosts[u.To].last != 0 && u.Class != mad.ClassSubnetDirected { // else the address is not that of one port
		t.peer(i, &agent.Connection{}, 0, a.First, t.run.Last, "this request")
	}
	if a.reasons(i); !a.Reached && a.Class != mad.ClassSubnetDirected && (t.hosts[u.To].last == 0 || u.To.IsLID()) {
		i.FitsWith = append(i.FitsWith, "a capture that holds one direction only")
	}
	t.tell(i, fmt.Sprint(u.Class, u.Route))
}

// responder names who did not answer.
func (a *asked) responder() string {
	s := a.To.String()
	if a.Route != "" {
		s = "the port on directed route " + a.Route
	}
	if a.Node != "" {
		s += fmt.Sprintf(" (%q)", a.Node)
	}
	if a.administrator() {
		s = "the subnet administrator (SA) at " + s
	}
	return s
}

// administrator reports whether the requests went to a subnet administrator, and roce whether to a port of RoCE, which has none.
func (a *asked) administrator() bool { return a.Class == mad.ClassSubnetAdmin && !a.roce() }

func (a *asked) roce() bool { return a.Route == "" && !a.To.IsLID() }

// sentence says who has not answered how many of whose requests.
func (a *asked) sentence(t *teller) string {
	whose := ""
	if a.Route == "" {
		whose = " of " + a.most.From.String()
	}
	if a.others > 0 {
		whose += " and " + count(uint64(a.others), "other port")
	}
	who := a.responder()
	if a.Route != "" || a.administrator() { // else it is an address
		who = "T" + who[1:]
	}
	sent := ""
	if a.Again > 0 && a.Requests == 1 {
		sent = ", sent " + times(1+a.Again) + t.within(" in %s", a.Last-a.First)
	}
	switch {
	case a.Asked == 0:
		return fmt.Sprintf("%s has not answered %s%s%s.", who, count(a.Requests, "subnet management request"), whose, sent)
	case a.Requests == 1 && a.Asked == 1:
		return fmt.Sprintf("%s has not answered %s%s%s.", who, "the "+a.noun(), whose, sent)
	case a.Answered == 0 && a.Requests >= a.Asked:
		return fmt.Sprintf("%s answered none of %s%s.", who, count(a.Requests, a.noun()), whose)
	case a.Answered == 0:
		return fmt.Sprintf("%s answered none of %s%s; %s of them %s not waited long.", who, count(a.Asked, a.noun()), whose, number(a.Asked-a.Requests), have(a.Asked-a.Requests))
	case a.silent():
		return fmt.Sprintf("%s has not answered %s of %s%s, and none%s.", who, number(a.Requests), count(a.Asked, a.noun()), whose, t.within(" in the last %s of the capture", t.run.Last-a.First))
	}
	return fmt.Sprintf("%s has not answered %s of %s%s, though others meanwhile.", who, number(a.Requests), count(a.Asked, a.noun()), whose)
}

// noun is what a request is called, by its class.
func (a *asked) noun() string {
	switch a.Class {
	case mad.ClassSubnetAdmin:
		if a.roce() {
			return "SA request"
		}
		return "request"
	case mad.ClassPerformance:
		return "performance request"
	}
	return fmt.Sprintf("%v request", a.Class)
}

// mostNames is how many attributes are named.
const mostNames = 4

// requests says what was asked.
func (a *asked) requests() string {
	var list []string
	named := uint64(0)
	for i, n := range a.Names {
		if i == mostNames {
			break
		}
		named += n.Count
		list = append(list, n.Name)
		if a.Requests > 1 {
			list[i] += " " + times(n.Count)
		}
	}
	if rest := a.Requests - min(named, a.Requests); rest > 0 {
		list = append(list, number(rest)+" more")
	}
	s := enumerate(list)
	switch {
	case a.Again > 0:
		s += "; retransmitted " + times(a.Again) + " in all"
	case a.Requests > 0:
		s += "; none was retransmitted with its transaction ID"
	}
	return s
}

// answers says what the responder has answered beside them.
func (a *asked) answers(t *teller) string {
	switch {
	case a.Asked == 0 && a.Reached:
		return "it answered other requests of subnet management, then or at another time"
	case a.Asked == 0:
		return "the capture holds none of it"
	case a.Answered == 0 && a.Reached:
		return "none to this class; it answered requests of other classes"
	case a.Answered == 0 && t.hosts[a.To].last == 0 && !a.To.IsLID():
		return "none, and no RDMA packet of " + a.To.String() + " is in the capture"
	case a.Answered == 0:
		return "none to any request of theirs is in the capture"
	case a.Answered < a.First:
		return "the last came" + t.within(" %s", a.First-a.Answered) + " before the first of these"
	}
	return "the last came" + t.within(" %s", a.Answered-a.First) + " after the first of these"
}

// elsewhere says what other ports have answered meanwhile.
func (a *asked) elsewhere() string {
	u := a.most
	switch all := "all " + count(u.OthersAsked, a.noun()) + " of " + u.From.String(); {
	case u.Others == 0 || u.OthersAsked < 2:
		return ""
	case u.Others == 1:
		return u.Other.String() + " answered " + all
	default:
		return count(uint64(u.Others), "other port") + " answered " + all
	}
}

// reasons says what would look like it, and what to look at.
func (a *asked) reasons(i *Incident) {
	lost := "datagrams that were lost, or dropped by a receiver whose queue was full: nothing acknowledges them"
	switch {
	case a.Class == mad.ClassSubnetAdmin && a.roce():
		i.FitsWith = []string{"a program or a configuration that asks for InfiniBand paths on RoCE, where there is no subnet administrator (SA) to answer"}
		i.Next = []string{
			"which program on " + a.most.From.String() + " asks, and where it has the address from: paths of RoCE come from the GID table and the RDMA CM (librdmacm), not from an SA: leave out ibacm, saquery and options that query path records",
		}
	case a.Class == mad.ClassSubnetAdmin && a.silent():
		i.FitsWith = []string{"a subnet manager that has stopped, or is not master", "requesters that have an outdated SM LID"}
		i.Next = []string{
			"whether opensm runs at " + a.To.String() + ", and is master: sminfo, saquery", "the SM LID and SM SL that the requesters have (ibstat, smpquery portinfo)",
			fmt.Sprintf("whether both ports have the P_Key 0x%04x of the requests", a.PKey),
		}
	case a.Class == mad.ClassSubnetAdmin:
		i.FitsWith = []string{"a subnet administrator that is busy, or drops what it does not know", lost}
		i.Next = []string{"the log of opensm", "whether the requests that have no answer are of one attribute"}
	case a.Class == mad.ClassSubnetDirected:
		i.FitsWith = []string{"a port that is down, or went down: normal while a subnet manager discovers a subnet", "a node that has stopped, or a subnet manager that was killed (SMInfo)", "an M_Key that the node does not accept, and drops"}
		i.Next = []string{"the state of the ports on the route (iblinkinfo, smpquery -D nodeinfo " + a.Route + ")", "the log of the subnet manager"}
	case a.Class == mad.ClassSubnetLID:
		i.FitsWith = []string{"a node that does not know the attribute: SMInfo is answered only where a subnet manager runs", "a node that has stopped", "an M_Key that the node does not accept, and drops"}
		i.Next = []string{"smpquery nodeinfo and sminfo to " + a.To.String()}
	case a.roce():
		i.FitsWith = []string{"an adapter without an agent for this class, as many of RoCE are", "an agent that does not know the attribute, and drops what it does not know", lost, "an agent that has stopped"}
		i.Next = []string{"whether the requests that have no answer are of one attribute", "the counters of the adapter on its own host (rdma statistic, ethtool -S)"}
	default:
		i.FitsWith = []string{"an agent that does not know the attribute or the class, and drops what it does not know", lost, "an agent that has stopped"}
		i.Next = []string{"whether the requests that have no answer are of one attribute", "smpquery nodeinfo and perfquery to " + a.To.String()}
	}
}
