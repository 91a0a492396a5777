package incident

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/upper"
)

// rpcOverRDMA is the protocol whose clients retransmit on their next connection what was not answered, with the same XIDs.
const rpcOverRDMA = "RPC over RDMA"

// closedToo returns the connections of a host that others disconnected after its first DREQ and shortly after its last: those of the program that
// ended with them.
func (t *teller) closedToo(r *restarted) (list []*agent.Connection) {
	hosts := map[packet.Addr]bool{}
	for _, c := range r.closed {
		hosts[otherThan(c, r.host)] = true
	}
	since, until := r.closed[0].Closed.At, r.closed[len(r.closed)-1].Closed.At+disconnecting
	for _, c := range t.serves(r.host) {
		if k := &c.Closed; k.By != r.host && k.At >= since && k.At <= min(until, r.refusals[0].Time) && hosts[otherThan(c, r.host)] {
			list = append(list, c)
		}
	}
	return list
}

// otherThan is the other host of a connection of one.
func otherThan(c *agent.Connection, a packet.Addr) packet.Addr {
	if c.Ends[0].Addr == a {
		return c.Ends[1].Addr
	}
	return c.Ends[0].Addr
}

// disconnectedToo says who disconnected others with those that a host did; "": nobody.
func disconnectedToo(r *restarted, list []*agent.Connection) string {
	if len(list) == 0 {
		return ""
	}
	var by []packet.Addr
	for _, c := range list {
		if a := otherThan(c, r.host); !slices.Contains(by, a) {
			by = append(by, a)
		}
	}
	return fmt.Sprintf(", after which %s disconnected %s more", sorted(by), number(uint64(len(list))))
}

// lostWith says which commands had no answer when the connections of a program that ended were disconnected. That of one that its client retransmits
// may come on another connection.
func (t *teller) lostWith(i *Incident, r *restarted, list []*agent.Connection) {
	if t.lossy() {
		return
	}
	var names []string
	var clients []packet.Addr
	var first *agent.Operation
	var again []upper.FirstCall // on the next connections
	of, open, acked := map[string]int{}, 0, "that it had acknowledged "
	carried, rpcs := 0, 0 // connections with such commands, and those of RPC over RDMA
	for _, c := range list {
		u := c.Upper
		if u == nil || !u.Answered || u.Oldest == nil || u.Oldest.Unsure || u.GivenUp > 0 || c.Ends[u.Oldest.From].Addr == r.host {
			continue
		}
		if carried++; u.Protocol == rpcOverRDMA {
			rpcs++
			again = append(again, t.calledAgain(c)...)
		}
		if open += u.Open; !slices.Contains(clients, clientOf(c)) {
			clients = append(clients, clientOf(c))
		}
		if c.Ends[u.Oldest.From].Open > 0 {
			acked = ""
		}
		if first == nil || cmp.Or(cmp.Compare(u.Oldest.Since, first.Since), cmp.Compare(u.Oldest.Frame, first.Frame)) < 0 {
			first = u.Oldest
		}
		for n := range u.Classes {
			if k := &u.Classes[n]; k.Open > 0 {
				if of[k.Name] == 0 {
					names = append(names, k.Name)
				}
				of[k.Name] += k.Open
			}
		}
	}
	if first == nil {
		return
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b)) })
	for n, name := range names {
		names[n] = fmt.Sprintf("%d %s", of[name], name)
	}
	kinds := ""
	if len(names) == 1 {
		kinds = ": " + strings.TrimPrefix(names[0], strconv.Itoa(open)+" ")
	} else if len(names) > 1 {
		kinds = " (" + enumerate(names) + ")"
	}
	were, which := "was", "it"
	if open > 1 {
		were, which = "were", "the first"
	}
	on := "that connection"
	if carried > 1 {
		on = "these connections"
	}
	said := fmt.Sprintf("%s of %s %s%s not answered on %s%s; %s is in frame %d, %s before the first DREQ", count(uint64(open), "command"),
		sorted(clients), acked, were, on, kinds, which, first.Frame, span(r.closed[0].Closed.At-first.Since))
	switch {
	case len(again) > 0:
		said += "; " + retransmittedIn(again, open)
	case rpcs == carried && r.accepted != nil:
		said += "; a client of RPC retransmits such on its next connection, with the same XID"
	}
	i.fact("lost", said)
	if first.Tap == i.Tap {
		i.show(first.Frame)
	}
}

// hostOf says what shows that the host of a program that ended did not restart with it, or that it did.
func (t *teller) hostOf(i *Incident, r *restarted) {
	gone, until := r.closed[len(r.closed)-1].Closed.At, r.refusals[len(r.refusals)-1].Time
	if r.accepted != nil {
		until = r.accepted.First
	}
	for _, c := range t.serves(r.host) { // in the order of the result
		e := endOf(c, r.host)
		if c.Service == packet.RC && c.First < gone && c.Closed.At == 0 && e.QPNKnown && e.Packets > 0 && e.Last > max(until, gone) {
			i.fact("host", fmt.Sprintf("%v stayed up: its QP 0x%x, which served %v before, went on meanwhile",
				r.host, e.QPN, otherThan(c, r.host)))
			return
		}
	}
	if r.accepted == nil {
		return
	}
	d := &hostSilence{from: gone, to: until, owed: gone}
	again, _ := t.countsOn(r.host, d)
	was, is := t.qpnsAround(r.host, d)
	switch {
	case again != "":
		i.fact("host", "it may have restarted: "+again)
		i.FitsWith = append(i.FitsWith, fmt.Sprintf("%v that restarted: its kernel ends all programs first", r.host))
	case was.most != 0 && is.least > was.most && is.least-was.most <= jump:
		i.fact("host", fmt.Sprintf("it seems that %v stayed up: the numbers of its queue pairs count on (%s, and %s before), "+
			"and it answered REQs (REJ) at %s",
			r.host, is.extent(), was.extent(), t.offset(r.refusals[0].Time)))
	}
}

// calledAgain returns the calls that a client of RPC retransmitted on its next connection to the host which had not answered them on c: with the same
// XID.
func (t *teller) calledAgain(c *agent.Connection) (again []upper.FirstCall) {
	client := c.Upper.Oldest.From
	for _, xid := range c.Upper.OpenXIDs {
		for n := range t.run.Connections {
			d := &t.run.Connections[n]
			if d == c || d.Upper == nil || len(d.Upper.First) == 0 || d.First < c.Closed.At {
				continue
			}
			if from := fromOf(d.Upper); d.Ends[from].Addr != c.Ends[client].Addr || d.Ends[1-from].Addr != c.Ends[1-client].Addr {
				continue
			}
			if at := slices.IndexFunc(d.Upper.First, func(f upper.FirstCall) bool { return f.XID == xid }); at >= 0 {
				again = append(again, d.Upper.First[at])
				break
			}
		}
	}
	return again
}

// retransmittedIn says in which frames such calls are, of so many.
func retransmittedIn(again []upper.FirstCall, open int) string {
	slices.SortFunc(again, func(a, b upper.FirstCall) int { return cmp.Compare(a.Frame, b.Frame) })
	first, last := again[0].Frame, again[len(again)-1].Frame
	switch n := len(again); {
	case open == 1:
		return fmt.Sprintf("it was retransmitted on the next connection, with the same XID, in frame %d", first)
	case n == 1:
		return fmt.Sprintf("1 of them was retransmitted on the next connection, with the same XID, in frame %d", first)
	case n == open:
		return fmt.Sprintf("all were retransmitted on the next connection, with the same XIDs, from frame %d to %d", first, last)
	default:
		return fmt.Sprintf("at least %d of them were retransmitted on the next connection, with the same XIDs, from frame %d to %d", n, first, last)
	}
}
