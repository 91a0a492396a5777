package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// why says why a request can have been refused: only what its operation can have been refused for, and what the capture does not rule out.
func (t *teller) why(i *Incident, c *agent.Connection, from int, k *qp.Refusal) {
	switch k.Code {
	case packet.NAKRemoteAccess:
		t.accessDenied(i, c, from, k)
	case packet.NAKInvalidRequest:
		if invalid(i, &k.Request); c.Service == packet.XRC && takesReceive(k.Request.Op) {
			i.FitsWith = append(i.FitsWith, "a shared receive queue that is not there, or is of another XRC domain")
			i.Next = append(i.Next, "the number of the shared receive queue that the request names, and its XRC domain")
		}
	default:
		i.FitsWith = []string{"a fault of the responder that it finds itself: of its memory, its queue pair or its adapter"}
		if takesReceive(k.Request.Op) {
			i.FitsWith = []string{"a receive of " + i.Peer.Addr.String() + " that could not be completed: memory that is no longer registered, or a wrong L_Key"}
		}
		i.Next = []string{"completions in error and dmesg on " + i.Peer.Addr.String()}
	}
	t.wrong(i, c, from, k)
}

// takesReceive reports whether a message of an operation takes a receive request, as a WRITE with Immediate does.
func takesReceive(o wqe.Op) bool { return o <= wqe.Write }

// accessDenied says why a responder refused access: the R_Key, the address, or the right.
func (t *teller) accessDenied(i *Incident, c *agent.Connection, from int, k *qp.Refusal) {
	r, b, peer := &k.Request, &k.Beside, i.Peer.Addr.String()
	const wrong = "a wrong R_Key: of another region, of a registration that is over, or altered by the application"
	const stale = "a region or window that was deregistered or invalidated since"
	right := "a region or queue pair without the right to " + access(r.Op)
	outside := fmt.Sprintf("an address or length outside the memory region of R_Key 0x%x", r.RKey)
	region := fmt.Sprintf("which region of %s has R_Key 0x%x, its range and access flags, and when it was deregistered or invalidated", peer, r.RKey)
	i.Next = []string{region}
	switch {
	case r.Op == wqe.Send || r.Op == wqe.None:
		i.FitsWith = []string{"a SEND with Invalidate that names an R_Key which is not valid (any more), or is none of a window or region that peers may invalidate"}
		i.Next = []string{"which regions and windows of " + peer + " the connection uses, and when they were deregistered or invalidated"}
	case t.invalidated(c, from, k):
		i.fact("R_Key", fmt.Sprintf("a SEND with Invalidate of this queue pair named R_Key 0x%x before: it is not valid any more (%v)", r.RKey, rule.RCINV001))
		i.FitsWith = []string{"a requester that goes on with an R_Key which it has itself had invalidated"}
		i.Next = []string{"where the application of " + i.Local.Addr.String() + " takes the R_Key from: the peer has to advertise a new one after each SEND with Invalidate"}
	case b.Covering.Frame != 0 && access(b.CoveringOp) == access(r.Op):
		i.fact("R_Key", fmt.Sprintf("was accepted for these bytes in frame %d: the address was right, and R_Key 0x%x valid then", b.Covering.Frame, r.RKey))
		i.show(b.Covering.Frame)
		i.FitsWith = []string{stale}
	case b.Elsewhere.Frame != 0:
		i.fact("R_Key", fmt.Sprintf("the address was accepted with R_Key 0x%x in frame %d: R_Key 0x%x is wrong for it", b.Elsewhere.RKey, b.Elsewhere.Frame, r.RKey))
		i.show(b.Elsewhere.Frame)
		i.FitsWith = []string{wrong}
	case b.SameKey.Newest != 0:
		i.fact("R_Key", fmt.Sprintf("0x%x was accepted at 0x%x to 0x%x, last in frame %d: it was valid then", r.RKey, b.SameKey.Low, b.SameKey.High-1, b.SameKey.Newest))
		i.show(b.SameKey.Newest)
		if i.FitsWith = []string{outside, right, stale}; b.SameKey.SameOp {
			i.FitsWith = []string{outside, stale}
		}
		if low, high := r.VA, r.VA+uint64(r.Length); low < b.SameKey.Low || high > b.SameKey.High {
			i.fact("address", fmt.Sprintf("0x%x to 0x%x is not within that", low, max(high, low+1)-1))
		}
	default:
		i.fact("R_Key", others(i, r, b))
		i.FitsWith = []string{"an R_Key that is not valid (any more), or of another protection domain", outside, right}
		if b.Next.Frame != 0 && b.Next.RKey == b.Other.RKey {
			i.FitsWith[0] = wrong
		}
	}
}

// others says which R_Keys the requests beside a refused one have, whose own was not accepted before.
func others(i *Incident, r *qp.StalledRequest, b *qp.Beside) (s string) {
	if b.Other.Frame != 0 {
		s = fmt.Sprintf("frame %d, which was accepted, has R_Key 0x%x", b.Other.Frame, b.Other.RKey)
		i.show(b.Other.Frame)
	}
	if b.Next.Frame == 0 {
		return s
	}
	i.show(b.Next.Frame)
	if b.Next.RKey == b.Other.RKey {
		return s + fmt.Sprintf(", and so has frame %d, for the same address: it seems that R_Key 0x%x is the wrong one", b.Next.Frame, r.RKey)
	}
	if s != "" {
		s += "; "
	}
	return s + fmt.Sprintf("frame %d, for the same address, has R_Key 0x%x", b.Next.Frame, b.Next.RKey)
}

// invalidated reports whether a SEND with Invalidate of the same queue pair named the R_Key of a refused request before.
func (t *teller) invalidated(c *agent.Connection, from int, k *qp.Refusal) bool {
	return slices.ContainsFunc(t.breaches(c, from, k), func(f *rule.Finding) bool { return f.Rule == rule.RCINV001 })
}

// breaches are the violations of the requester with the packet that begins a refused request.
func (t *teller) breaches(c *agent.Connection, from int, k *qp.Refusal) (list []*rule.Finding) {
	if t.broken == nil {
		t.broken = map[rule.Frame][]*rule.Finding{}
		for n := range t.run.Findings {
			if f := &t.run.Findings[n]; f.Class == rule.Violation {
				at := rule.Frame{Number: f.Frame, Tap: f.Tap}
				t.broken[at] = append(t.broken[at], f)
			}
		}
	}
	for _, f := range t.broken[rule.Frame{Number: k.Request.Frame, Tap: k.Tap}] {
		if f.Accused.Addr == c.Ends[from].Addr {
			list = append(list, f)
		}
	}
	return list
}

// wrong puts first that a refused request breaks rules itself, where that is not said otherwise.
func (t *teller) wrong(i *Incident, c *agent.Connection, from int, k *qp.Refusal) {
	for _, f := range t.breaches(c, from, k) {
		if row := f.Rule.Row(); row.Severity == rule.Error && f.Rule != rule.RCATM001 {
			i.FitsWith = slices.Insert(i.FitsWith, 0, fmt.Sprintf("a request that is wrong itself: it breaks %s %s", row.ID, row.Name))
		}
	}
}

// invalid says why a responder can take a request for invalid.
func invalid(i *Incident, r *qp.StalledRequest) {
	peer := i.Peer.Addr.String()
	disallowed := "a queue pair of " + peer + " without the right to " + access(r.Op)
	const many = "more READs and atomics at once than the responder has resources for"
	flags, depth, receives := "qp_access_flags", "max_dest_rd_atomic", "the length of the receives that "+peer+" posts"
	of := " of its queue pair on " + peer
	switch {
	case (r.Op.Atomic() || r.Op == wqe.AtomicWrite) && r.VA%8 != 0:
		i.fact("address", fmt.Sprintf("0x%x is not a multiple of 8, as that of an %s has to be", r.VA, kindOfAtomic(r.Op)))
		i.FitsWith = []string{"a misaligned atomic: that explains the refusal"}
		i.Next = []string{"how the application of " + i.Local.Addr.String() + " comes by the address"}
	case r.Op == wqe.Send:
		i.FitsWith = []string{"a message longer than the receive that was posted", "an operation that the responder does not support, as SEND with Invalidate"}
		i.Next = []string{receives}
	case r.Op == wqe.Write:
		i.FitsWith = []string{disallowed, "a payload that is not as long as the length that the request names"}
		i.Next = []string{flags + of}
	case r.Op == wqe.Read:
		i.FitsWith = []string{disallowed, many}
		i.Next = []string{depth + " and " + flags + of + ", and max_rd_atomic of " + i.Local.Addr.String()}
	case r.Op.Responded():
		i.FitsWith = []string{disallowed, many, fmt.Sprintf("an adapter that does not support %s requests", r.Op)}
		i.Next = []string{depth + " and " + flags + of + ", and max_rd_atomic of " + i.Local.Addr.String()}
	default: // what it was is not known
		i.FitsWith = []string{"an operation that the responder's queue pair does not allow, or more READs and atomics than it has resources for", "a message longer than the receive that was posted", "a misaligned atomic"}
		i.Next = []string{receives + ", and " + depth + " and " + flags + of}
	}
}

// kindOfAtomic is what of a misaligned operation the rule is about.
func kindOfAtomic(o wqe.Op) string {
	if o == wqe.AtomicWrite {
		return o.String()
	}
	return "atomic"
}

// access is the right that an operation needs.
func access(o wqe.Op) string {
	switch {
	case o == wqe.Read:
		return "remote read"
	case o.Atomic():
		return "remote atomic access"
	case o == wqe.Flush:
		return "remote flush"
	}
	return "remote write"
}
