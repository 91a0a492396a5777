package incident

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/packet"
)

// unfetched tells of a command that waits, whose data its peer has to fetch by RDMA READ first, that it has asked for none of it: what is missing is a READ, which is small, and no answer. Whether
// the data of others was fetched tells a peer that never does from one that waits.
func (t *teller) unfetched(i *Incident, c *agent.Connection, o *agent.Operation) {
	local, peer := i.Local.Addr, i.Peer.Addr
	s := fmt.Sprintf("%s that %v has to fetch by RDMA READ; the capture holds no READ of it", count(o.Unfetched, "byte"), peer)
	switch n := c.Upper.Unfetched; {
	case n > 1 && n == c.Upper.Open:
		s += fmt.Sprintf(", nor of that of any of the %d commands that have no answer", n)
	case n > 1:
		s += fmt.Sprintf(", nor of that of %d more that have no answer", n-1)
	}
	f := t.fetches(c, local, peer)
	if f.here > 0 {
		s += fmt.Sprintf("; it has fetched that of %s of %v", count(f.here, "other command"), local)
	} else {
		s += fmt.Sprintf(", and none for another command of %v is known", local)
	}
	if f.elsewhere > 0 {
		s += fmt.Sprintf("; %s has fetched that of %s of %v", f.by(), count(f.elsewhere, "command"), local)
	}
	if f.others > 0 {
		s += fmt.Sprintf("; it has fetched that of %s of other hosts", count(f.others, "command"))
	}
	i.fact("data", s)
	fits := "a server that does not handle commands whose data it has to fetch"
	if f.here+f.others > 0 {
		fits = "a server that lacks what it needs to fetch the data: memory, or a thread that is not stopped"
	}
	i.FitsWith = append([]string{fits}, i.FitsWith...)
	i.Next[0] = fmt.Sprintf("on %v: why its software sends no READ for this command (its log and version, memory, threads that wait)", peer)
}

// fetching is of how many commands of a host the data was fetched, on all connections.
type fetching struct {
	here      uint64 // by the peer
	elsewhere uint64 // by others
	who       packet.Addr
	several   bool   // of these
	others    uint64 // by the peer, of commands of other hosts
}

// by names the hosts that have fetched data of the same requester.
func (f *fetching) by() string {
	if f.several {
		return "others"
	}
	return f.who.String()
}

// fetches counts the commands of the protocol of c, of one host, whose data a peer or others have fetched, and those of other hosts whose data it has.
func (t *teller) fetches(c *agent.Connection, local, peer packet.Addr) (f fetching) {
	for n := range t.run.Connections {
		d := &t.run.Connections[n]
		if d.Upper == nil || d.Upper.Protocol != c.Upper.Protocol || d.Upper.Fetched == 0 {
			continue
		}
		n, far := d.Upper.Fetched, packet.Addr{}
		switch a, b := d.Ends[0].Addr, d.Ends[1].Addr; {
		case pairBy(a, b) == pairBy(local, peer):
			f.here += n
			continue
		case a == local, b == local:
			far, _ = farEnd(d, local)
		case a == peer || b == peer:
			f.others += n
			continue
		default:
			continue
		}
		f.several = f.several || f.elsewhere > 0 && f.who != far
		f.elsewhere += n
		f.who = far
	}
	return f
}
