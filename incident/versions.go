package incident

import (
	"fmt"
	"slices"
	"strings"

	"ibwitness/agent"
	"ibwitness/packet"
)

// roceVersion is a version of RoCE, 1 or 2; 0: it is InfiniBand, or not known.
type roceVersion int

func versionOf(e packet.Encap) roceVersion {
	switch e {
	case packet.RoCEv1:
		return 1
	case packet.RoCEv2IPv4, packet.RoCEv2IPv6:
		return 2
	}
	return 0
}

func (v roceVersion) String() string { return fmt.Sprintf("RoCE v%d", int(v)) }

// other is the other version.
func (v roceVersion) other() roceVersion { return 3 - v }

// carried says what carries packets of a version.
func (v roceVersion) carried() string {
	if v == 1 {
		return "Ethertype 0x8915"
	}
	return "UDP port 4791"
}

// spoken is with which versions of RoCE a host sends, management aside, by version, and with whom it has connections of each on which both ends send.
type spoken struct {
	sends [3]bool
	works [3][]packet.Addr
}

// versionsSpoken is what each host speaks.
func (t *teller) versionsSpoken() map[packet.Addr]*spoken {
	all := map[packet.Addr]*spoken{}
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		v := versionOf(c.Encap)
		for e := range c.Ends {
			x := &c.Ends[e]
			if v == 0 || x.Packets == 0 || c.Service == packet.UD {
				continue
			}
			if all[x.Addr] == nil {
				all[x.Addr] = new(spoken)
			}
			s := all[x.Addr]
			s.sends[v] = true
			if far := c.Ends[1-e].Addr; c.Ends[1-e].Packets > 0 && !slices.Contains(s.works[v], far) {
				s.works[v] = append(s.works[v], far)
			}
		}
	}
	return all
}

// otherVersions has requests that were never answered be one incident where a host sends them with a version of RoCE with which their peer sends nothing: what others send to that host in vain with theirs from the same time on is
// told with it.
func (t *teller) otherVersions(list []Incident) []Incident {
	if !slices.ContainsFunc(t.run.Connections, func(c agent.Connection) bool { return c.Encap == packet.RoCEv1 }) {
		return list
	}
	all, merged := t.versionsSpoken(), map[*Incident]bool{}
	for _, sure := range []bool{true, false} { // first those of which it is known who is the odd one
		for n := range list {
			if i := &list[n]; !merged[i] && i.odd == 0 && t.mismatched(all, list, i) && oddOf(all, i) == sure {
				t.tellVersions(all, list, i, sure, merged)
			}
		}
	}
	return without(list, merged)
}

// inVain reports whether requests of an incident were never answered, with a version of RoCE.
func (i *Incident) inVain(v roceVersion) bool {
	return i.Kind == NeverAnswered && i.Certainty != Possible && v != 0 && i.version == v
}

// mismatched reports whether an incident is of requests with a version of RoCE with which the peer sends nothing, though it sends with the other one, and is answered or sends to the requester itself.
func (t *teller) mismatched(all map[packet.Addr]*spoken, list []Incident, i *Incident) bool {
	v := i.version
	peer := all[i.Peer.Addr]
	if !i.inVain(v) || i.Local.Addr == i.Peer.Addr || peer == nil || peer.sends[v] || !peer.sends[v.other()] {
		return false
	}
	return len(peer.works[v.other()]) > 0 || slices.ContainsFunc(list, func(j Incident) bool { return j.back(i) && j.Local.Addr == i.Peer.Addr })
}

// oddOf reports whether the requester of an incident is the one whose version of RoCE is another than that of the others: nobody answers it with that, and somebody the peer with its own.
func oddOf(all map[packet.Addr]*spoken, i *Incident) bool {
	v := i.version
	return len(all[i.Peer.Addr].works[v.other()]) > 0 && len(all[i.Local.Addr].works[v]) == 0
}

// back reports whether an incident is of requests to the requester of another, with the other version of RoCE, that began at the same time.
func (i *Incident) back(o *Incident) bool {
	return i.inVain(o.version.other()) && i.Peer.Addr == o.Local.Addr && max(i.Begin, o.Begin)-min(i.Begin, o.Begin) < together
}

// sameVersion reports whether an incident is of requests of the same host with the same version, that began at the same time.
func (i *Incident) sameVersion(o *Incident) bool {
	return i.inVain(o.version) && i.Local.Addr == o.Local.Addr && max(i.Begin, o.Begin)-min(i.Begin, o.Begin) < together
}

// tellVersions has incident i tell of all that a host sends with a version of RoCE that its peers do not send with, and of what these send to it in vain. odd says that the host is the one that differs from others.
func (t *teller) tellVersions(all map[packet.Addr]*spoken, list []Incident, i *Incident, odd bool, merged map[*Incident]bool) {
	x, v := i.Local.Addr, i.version
	out, in := uint64(i.Connections), uint64(0)
	pairs := ways{i.Peer.Addr: {out, 0}}
	peers, senders := []packet.Addr{i.Peer.Addr}, []packet.Addr(nil)
	for n := range list {
		j := &list[n]
		switch {
		case j == i || merged[j] || j.odd != 0:
			continue
		case j.sameVersion(i) && t.mismatched(all, list, j):
			out, peers = out+uint64(j.Connections), append(peers, j.Peer.Addr)
			pairs.add(j.Peer.Addr, uint64(j.Connections), 0)
		case j.back(i):
			in, senders = in+uint64(j.Connections), append(senders, j.Local.Addr)
			pairs.add(j.Local.Addr, 0, uint64(j.Connections))
		default:
			continue
		}
		merged[j] = true
		i.Begin, i.End, i.Ongoing, i.Lost = min(i.Begin, j.Begin), max(i.End, j.End), i.Ongoing || j.Ongoing, max(i.Lost, j.Lost)
		i.foundToo(j.Found)
		if j.Tap == i.Tap {
			i.show(j.Frames...)
		}
	}
	hosts := slices.Concat(peers, senders)
	slices.SortFunc(hosts, packet.Addr.Compare)
	hosts = slices.Compact(hosts)
	for _, a := range hosts {
		if a != i.Peer.Addr {
			i.Also = append(i.Also, a)
		}
	}
	i.odd, i.common, i.gone, i.Connections = v, x, notGone, int(pairs.connections())
	i.What = fmt.Sprintf("%v sends %v (%s) to %s, which %s only %v (%s): nothing was answered on %s with %s. %s", x, v, v.carried(), sorted(peers), sendsOr(peers), v.other(), v.other().carried(), count(pairs.connections(), "connection"), someOf(hosts),
		strings.Replace(i.What, hasNotAnswered(NeverAnswered, nil), "never answered it", 1)) // what it sends does not show which connection it is of
	i.versionFacts(all, odd, out, in, senders)
	both := fmt.Sprintf("the GID index of %v", x)
	if !odd {
		both += " and of " + someOf(hosts)
	}
	i.FitsWith = []string{fmt.Sprintf("a GID of %v on the queue pairs of %v, and of %v on those of its peers: each drops what the other sends, and answers nothing", v, x, v.other())}
	if v == 1 && in == 0 {
		i.FitsWith = append(i.FitsWith, "a switch or filter that drops Ethertype 0x8915, where the peers have a GID of RoCE v1 there, too")
	}
	i.Next = []string{both + " that the program uses, and the version of RoCE that it is of (show_gids; NCCL_IB_GID_INDEX, NCCL_IB_ROCE_VERSION_NUM, UCX_IB_GID_INDEX, ib_write_bw -x; with RDMA CM cma_roce_mode)"}
}

// versionFacts says what shows which host sends with which version.
func (i *Incident) versionFacts(all map[packet.Addr]*spoken, odd bool, out, in uint64, senders []packet.Addr) {
	x, v := i.Local.Addr, i.version
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool {
		return slices.Contains([]string{"peer", "others", "begin", "also", "source", "P_Keys"}, f.Label)
	})
	s := fmt.Sprintf("%s on %s, and none is answered", v, count(out, "connection"))
	if in > 0 {
		s = fmt.Sprintf("%s sends %v to %s, and %s %v to %s of it: none is answered", x, v, count(out, "queue pair"), sorted(senders), v.other(), count(in, "queue pair"))
	}
	list := []Fact{{"versions", s}}
	if works := all[x].works[v.other()]; len(works) > 0 {
		list = append(list, Fact{"beside", fmt.Sprintf("%v sends %v, too, with %s, and is answered: its adapter and link work", x, v.other(), sorted(works))})
	}
	if works := all[i.Peer.Addr].works[v.other()]; odd && len(works) > 0 {
		list = append(list, Fact{"peer", fmt.Sprintf("%v is answered by %s with %v", i.Peer.Addr, sorted(works), v.other())})
	}
	i.Facts = slices.Insert(i.Facts, 0, list...)
}

// ways is to how many queue pairs one host sends, and to how many of it are sent, by the other host: as nothing comes back the way that it went, what shows the two directions of one connection is their number.
type ways map[packet.Addr][2]uint64

func (w ways) add(a packet.Addr, out, in uint64) { w[a] = [2]uint64{w[a][0] + out, w[a][1] + in} }

// connections is how many connections these are at least.
func (w ways) connections() (n uint64) {
	for _, x := range w {
		n += max(x[0], x[1])
	}
	return n
}

// sendsOr is the verb of so many hosts.
func sendsOr(hosts []packet.Addr) string {
	if len(hosts) == 1 {
		return "sends"
	}
	return "send"
}
