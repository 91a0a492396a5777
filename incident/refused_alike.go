package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// accesses is what became of the requests of one operation from one host to another, on all connections between them.
type accesses struct {
	refused     uint64 // for access: at most one on each connection
	least, most uint32 // bytes that these are of
	accepted    uint64
	longest     uint32 // bytes of the longest of these
	last        int64  // when the last was refused, and in which frame
	lastFrame   uint64
	unsure      bool // of some it is not known
}

type accessKey struct {
	way
	op wqe.Op
}

const (
	fewestRefused  = 2 // of how many alike it is told at least
	fewestAccepted = 8 // which of them are not
)

// accessesOf returns what became of the requests of an operation between hosts.
func (t *teller) accessesOf(w way, op wqe.Op) *accesses {
	if t.accesses == nil {
		t.accesses = map[accessKey]*accesses{}
		for n := range t.run.Connections {
			c := &t.run.Connections[n]
			if c.Service != packet.RC && c.Service != packet.XRC {
				continue
			}
			for e := range c.Ends {
				for _, op := range [...]wqe.Op{wqe.Read, wqe.Write} {
					key := accessKey{way{c.Ends[e].Addr, c.Ends[1-e].Addr}, op}
					if t.accesses[key] == nil {
						t.accesses[key] = &accesses{}
					}
					t.accesses[key].add(c, e, op)
				}
			}
		}
	}
	if a := t.accesses[accessKey{w, op}]; a != nil {
		return a
	}
	return &accesses{unsure: true}
}

// add takes the requests of an operation of end from of a connection.
func (a *accesses) add(c *agent.Connection, from int, op wqe.Op) {
	if c.Timing == nil {
		a.unsure = true
		return
	}
	if o := c.Timing.Ends[from].Ops[op]; o != nil {
		a.accepted += o.Latency.Count()
		a.longest = max(a.longest, o.Answered)
		a.unsure = a.unsure || o.Untimed > 0
	}
	x := c.Ends[from].Trouble
	if x == nil || x.Refusal.Time == 0 || x.Refusal.Code != packet.NAKRemoteAccess || x.Refusal.Request.Op != op {
		return
	}
	if x.Refusal.Time > a.last {
		a.last, a.lastFrame = x.Refusal.Time, x.Refusal.Frame
	}
	r := &x.Refusal.Request
	if a.refused++; a.refused == 1 {
		a.least = r.Length
	}
	a.least, a.most = min(a.least, r.Length), max(a.most, r.Length)
	a.unsure = a.unsure || r.Tail || r.Begun || rest(r)
}

// alike tells what the requests that a peer refuses have in common, and those that are accepted have not: they are longer, or they are all of their requester. What fits is an R_Key that is not valid, an address or length outside,
// and a right that is missing.
func (t *teller) alike(i *Incident, c *agent.Connection, from int, k *qp.Refusal) {
	op := k.Request.Op
	if op != wqe.Read && op != wqe.Write {
		return
	}
	to := way{c.Ends[from].Addr, c.Ends[1-from].Addr}
	a := t.accessesOf(to, op)
	switch {
	case a.unsure || a.refused < fewestRefused:
	case a.accepted >= fewestAccepted && a.longest < a.least:
		size := count(uint64(a.least), "byte")
		if a.most > a.least {
			size = number(uint64(a.least)) + " to " + count(uint64(a.most), "byte")
		}
		i.fact("sizes", fmt.Sprintf("all %s of %v that %v refused are of %s%s; the %s that it accepted of up to %s", count(a.refused, op.String()), to.from, to.to, size, t.lastRefused(a), number(a.accepted), number(uint64(a.longest))))
		i.FitsWith[0], i.FitsWith[1] = fmt.Sprintf("a length beyond the memory that R_Key 0x%x gives access to", k.Request.RKey), i.FitsWith[0]
		i.Next = append(i.Next, fmt.Sprintf("how long the memory is that %v has told %v for such %vs, and whether it comes in several parts, each with an R_Key of its own", to.to, to.from, op))
	case a.accepted == 0:
		t.allRefused(i, to, op, a)
	}
}

// lastRefused says when the last of several was refused.
func (t *teller) lastRefused(a *accesses) string {
	if !t.timed() || a.last == 0 {
		return ""
	}
	return fmt.Sprintf(" (the last refused at %s, in frame %d)", t.offset(a.last), a.lastFrame)
}

// allRefused tells that a peer refuses all requests of an operation of a host, and accepts those of others, or others accept those of the host.
func (t *teller) allRefused(i *Incident, to way, op wqe.Op, a *accesses) {
	others, elsewhere := uint64(0), uint64(0)
	var hosts, peers []packet.Addr
	for key, o := range t.accesses {
		if key.op != op || o.refused > 0 || o.accepted == 0 || o.unsure {
			continue
		}
		switch {
		case key.to == to.to && key.from != to.from:
			others += o.accepted
			hosts = append(hosts, key.from)
		case key.from == to.from && key.to != to.to:
			elsewhere += o.accepted
			peers = append(peers, key.to)
		}
	}
	if others+elsewhere < fewestAccepted {
		return
	}
	s := fmt.Sprintf("%v accepted no %v of %v, and refused %d", to.to, op, to.from, a.refused)
	if others > 0 {
		s += fmt.Sprintf("; it accepted %s of %s", number(others), sorted(hosts))
	}
	if elsewhere > 0 {
		s += fmt.Sprintf("; %s accepted %s of %v", sorted(peers), number(elsewhere), to.from)
	}
	i.fact("alike", s)
	right := fmt.Sprintf("memory or queue pairs of %v without the right to remote %s", to.to, verb(op))
	i.FitsWith = []string{fmt.Sprintf("R_Keys that are not valid on the queue pairs of %v with %v: of another protection domain or device, or not registered (any more) when they are used", to.to, to.from), right, i.FitsWith[1]}
	i.Next = append(i.Next, fmt.Sprintf("how %v registers the memory that it lets %v %s: in which protection domain, with which access, and whether before it tells where it is", to.to, to.from, verb(op)))
}

// sorted names the first of a list of hosts, in their order.
func sorted(hosts []packet.Addr) string {
	slices.SortFunc(hosts, packet.Addr.Compare)
	return someOf(hosts)
}

func verb(op wqe.Op) string {
	if op == wqe.Read {
		return "read"
	}
	return "write"
}
