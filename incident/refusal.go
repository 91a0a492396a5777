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
		t.invalid(i, k)
		t.tooLong(i, c, from, k)
		t.tooManyReads(i, c, from, k)
		otherMTU(i, c, from, k)
		if c.Service == packet.XRC && takesReceive(k.Request.Op) {
			i.FitsWith = append(i.FitsWith, "a shared receive queue that is not there, or is of another XRC domain")
			i.Next = append(i.Next, "the number of the shared receive queue that the request names, and its XRC domain")
		}
	default:
		i.FitsWith = []string{"a fault of the responder that it finds itself: of its memory, its queue pair or its adapter"}
		receive := "a receive of " + i.Peer.Addr.String() + " that could not be completed: memory that is no longer registered, or a wrong L_Key"
		switch {
		case k.Request.Op == wqe.Write:
			i.FitsWith = append(i.FitsWith, receive+", if the RDMA WRITE carries immediate data")
		case takesReceive(k.Request.Op):
			i.FitsWith = []string{receive}
		}
		i.Next = []string{"completions in error and dmesg on " + i.Peer.Addr.String()}
		t.endsWith(i, c, k)
	}
	t.wrong(i, c, from, k)
	if s := c.Stale; s != nil && s.Taken > 0 && s.From == from && s.First < k.Time {
		i.FitsWith = append([]string{lateStale}, i.FitsWith...)
	}
}

// takesReceive reports whether a message of an operation takes a receive request, as a WRITE with Immediate does.
func takesReceive(o wqe.Op) bool { return o <= wqe.Write }

// accessDenied says why a responder refused access: the R_Key, the address, or the right.
func (t *teller) accessDenied(i *Incident, c *agent.Connection, from int, k *qp.Refusal) {
	r, b, peer := &k.Request, &k.Beside, i.Peer.Addr.String()
	const wrong = "a wrong R_Key: of another region, of a registration that is over, or altered by the application"
	right := "a region or queue pair without the right to " + access(r.Op)
	outside := fmt.Sprintf("an address or length outside the memory region of R_Key 0x%x", r.RKey)
	region := fmt.Sprintf("which region of %s has R_Key 0x%x, its range and access flags, and when it was deregistered or invalidated", peer, r.RKey)
	i.Next = []string{region}
	switch {
	case r.Op == wqe.Send || r.Op == wqe.None:
		i.FitsWith = []string{"a SEND with Invalidate that names an R_Key which is not valid (any more), or is none of a window or region that peers may invalidate"}
		i.Next = []string{"which regions and windows of " + peer + " the connection uses, and when they were deregistered or invalidated"}
	case t.usedInvalidated(i, c, from, k):
	case t.usedOther(i, c, from, k):
	case b.Covering.Frame != 0 && qp.RightOf(b.Covering.Op) == qp.RightOf(r.Op):
		i.fact("R_Key", fmt.Sprintf("was accepted for these bytes in frame %d: the address was right, and R_Key 0x%x valid then", b.Covering.Frame, r.RKey))
		i.show(b.Covering.Frame)
		i.FitsWith, i.cause = []string{stale}, "over"
	case t.covered(i, c, k):
		i.cause = "over"
	case b.Elsewhere.Frame != 0:
		i.fact("R_Key", fmt.Sprintf("the address was accepted with R_Key 0x%x in frame %d: R_Key 0x%x is wrong for it", b.Elsewhere.RKey, b.Elsewhere.Frame, r.RKey))
		i.show(b.Elsewhere.Frame)
		i.FitsWith, i.cause = []string{wrong}, "R_Key"
	case t.elsewhere(i, c, k):
		i.cause = "address"
		if i.FitsWith = []string{outside, right, stale}; b.SameKey[qp.RightOf(r.Op)].Newest != 0 {
			i.FitsWith = []string{outside, stale}
		}
		if newest := newestWith(b); newest != 0 && r.Frame > newest && r.Frame-newest <= sameBurst && !slices.Contains(i.FitsWith, right) {
			i.FitsWith, i.Next = []string{outside}, []string{fmt.Sprintf("which region of %s has R_Key 0x%x, and its range", peer, r.RKey)}
		}
		if n := namedBy(c, from); n != nil && holds(n, k) {
			t.named(i, c, from, k)
		}
	case t.ofEarlier(i, c, from, k):
		i.cause = "over"
	default:
		i.fact("R_Key", others(i, r, b))
		i.FitsWith = []string{"an R_Key that is not valid (any more), or of another protection domain", outside, right}
		if b.Next.Frame != 0 && b.Next.RKey == b.Other.RKey {
			i.FitsWith[0] = wrong
			break
		}
		t.alike(i, c, from, k)
		t.named(i, c, from, k)
		if r.RKey == 0 {
			i.FitsWith = slices.Insert(i.FitsWith, 0, "a region that was registered without any remote right, which has R_Key 0 with soft-RoCE (rdma_rxe); or an R_Key that was not set")
		}
	}
}

// sameBurst is for how many frames of the capture after one that was accepted a request is taken for one of the same burst, in which no region is
// likely to be deregistered.
const sameBurst = 16

// newestWith is the frame of the newest request that was accepted with the R_Key of a refused one; 0: there is none.
func newestWith(b *qp.Beside) (newest uint64) {
	for n := range b.SameKey {
		newest = max(newest, b.SameKey[n].Newest)
	}
	return newest
}

// stale is what would look like an R_Key that was right before.
const stale = "a region or window that was deregistered or invalidated since"

// covered tells of a refused access whose bytes lie between others that were accepted with its R_Key, and reports whether they do: a region is all that is between.
func (t *teller) covered(i *Incident, c *agent.Connection, k *qp.Refusal) bool {
	r := &k.Request
	own := qp.RightOf(r.Op)
	low, high := extent(r)
	for n := range k.Beside.SameKey {
		// Those of its own right come first: they leave one cause.
		right := (own + qp.Right(n)) % qp.Right(len(k.Beside.SameKey))
		x := &k.Beside.SameKey[right]
		if !x.Covers(low, high) || outlives(c, k, x) {
			continue
		}
		where := fmt.Sprintf("frame %d", x.LowAt)
		if i.show(x.LowAt); x.HighAt != x.LowAt {
			where = fmt.Sprintf("frames %d and %d", min(x.LowAt, x.HighAt), max(x.LowAt, x.HighAt))
			i.show(x.HighAt)
		}
		if x.Newest > max(x.LowAt, x.HighAt) {
			where += fmt.Sprintf(", and last in frame %d", x.Newest)
		}
		i.fact("R_Key", fmt.Sprintf("0x%x was accepted for %v at 0x%x to 0x%x in %s: the address was right, and the R_Key valid then", r.RKey, right, x.Low, x.High-1, where))
		i.show(x.Newest)
		i.FitsWith = []string{stale}
		if right != own && k.Beside.SameKey[own].Newest == 0 {
			i.fact("access", fmt.Sprintf("no %v are known that were accepted with it", own))
			i.FitsWith = []string{"a region without the right to " + access(r.Op), stale}
			if had := k.Beside.HadRight; had != 0 && (c.FirstTap != k.Tap || had >= c.FirstFrame) {
				i.fact("right", fmt.Sprintf("%v of its queue pair were accepted with another R_Key, as in frame %d", own, had))
				i.show(had)
			} else {
				i.FitsWith[0] = "a region or queue pair without the right to " + access(r.Op)
			}
		}
		return true
	}
	return false
}

// elsewhere tells where the R_Key of a refused access was accepted, and reports whether it was.
func (t *teller) elsewhere(i *Incident, c *agent.Connection, k *qp.Refusal) bool {
	r := &k.Request
	all := qp.AcceptedRange{}
	for n := range k.Beside.SameKey {
		if x := &k.Beside.SameKey[n]; x.Newest != 0 && !outlives(c, k, x) {
			if all.Newest == 0 {
				all = *x
			}
			all.Low, all.High, all.Newest = min(all.Low, x.Low), max(all.High, x.High), max(all.Newest, x.Newest)
		}
	}
	if all.Newest == 0 {
		return false
	}
	i.fact("R_Key", fmt.Sprintf("0x%x was accepted at 0x%x to 0x%x, last in frame %d: it was valid then", r.RKey, all.Low, all.High-1, all.Newest))
	i.show(all.Newest)
	if low, high := extent(r); !all.Covers(low, high) {
		i.fact("address", fmt.Sprintf("0x%x to 0x%x is not within that%s", low, max(high, low+1)-1, beyondSize(all.Low, all.High, high)))
	}
	return true
}

// smallestRegion is the smallest size that beyondSize tells of, bytes.
const smallestRegion = 64 << 10

// beyondSize says that an access which was refused ends beyond a power of two from the lowest address that was accepted, up to which nearly all was accepted, as at the end of a region of that size.
func beyondSize(low, high, end uint64) string {
	size := uint64(smallestRegion)
	for size < high-low && size < 1<<62 {
		size *= 2
	}
	if end <= low || end-low <= size || high-low < size-size/16 {
		return ""
	}
	return fmt.Sprintf(": it goes %s beyond %s from the lowest address that was accepted", count(end-low-size, "byte"), count(size, "byte"))
}

// outlives reports whether a range is older than the connection of a refusal: it is of an earlier one.
func outlives(c *agent.Connection, k *qp.Refusal, x *qp.AcceptedRange) bool {
	return c.FirstTap == k.Tap && min(x.LowAt, x.HighAt) < c.FirstFrame
}

// extent is which bytes a request needs: the first, and the one after the last.
func extent(r *qp.StalledRequest) (low, high uint64) {
	n := uint64(r.Length)
	if r.Op.Atomic() || r.Op == wqe.AtomicWrite {
		n = 8
	}
	return r.VA, r.VA + n
}

// others says which R_Keys the requests beside a refused one have, whose own was not accepted before.
func others(i *Incident, r *qp.StalledRequest, b *qp.Beside) (s string) {
	switch {
	case b.OwnKeys > 1 && b.Next.Frame == 0: // which of them it is says nothing
		return fmt.Sprintf("0x%x is of this request only, as each of the %d of its queue pair that are known to be accepted before had one of its own", r.RKey, b.OwnKeys)
	case b.Other.Frame != 0:
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

// breaches are the violations of the requester with the packet that begins a refused request, and its use of an R_Key that it has invalidated also where only the NAK proves that.
func (t *teller) breaches(c *agent.Connection, from int, k *qp.Refusal) (list []*rule.Finding) {
	if t.broken == nil {
		t.broken = map[rule.Frame][]*rule.Finding{}
		for n := range t.run.Findings {
			if f := &t.run.Findings[n]; f.Class == rule.Violation || f.Rule == rule.RCINV001 {
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
func (t *teller) invalid(i *Incident, k *qp.Refusal) {
	r, peer := &k.Request, i.Peer.Addr.String()
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
	case r.Op == wqe.Write && k.Beside.SameOp.Frame != 0:
		i.fact("operation", fmt.Sprintf("the %v of frame %d was accepted: the queue pair had the right to it then", r.Op, k.Beside.SameOp.Frame))
		i.show(k.Beside.SameOp.Frame)
		i.FitsWith = []string{"a payload that is not as long as the length that the request names", refusesNow}
		i.Next = []string{"whether the right was taken from the queue pair of " + peer + " since"}
	case r.Op == wqe.Write:
		i.FitsWith = []string{disallowed, "a payload that is not as long as the length that the request names"}
		i.Next = []string{flags + of}
	case r.Op.Responded() && k.Beside.SameOp.Frame != 0:
		acceptedBefore(i, k, many)
		i.Next = []string{depth + " and " + flags + of + ", and max_rd_atomic of " + i.Local.Addr.String()}
	case r.Op.Responded():
		if i.FitsWith = []string{disallowed, many}; k.Beside.AtOnce == 1 {
			i.FitsWith[1] = "a responder without resources for READs and atomics (max_dest_rd_atomic 0)"
			i.fact("at once", noneAtOnce)
		}
		if r.Op != wqe.Read {
			i.FitsWith = append(i.FitsWith, fmt.Sprintf("an adapter that does not support %s requests", r.Op))
		}
		i.Next = []string{depth + " and " + flags + of + ", and max_rd_atomic of " + i.Local.Addr.String()}
	default: // what it was is not known
		i.FitsWith = []string{"an operation that the responder's queue pair does not allow, or more READs and atomics than it has resources for", "a message longer than the receive that was posted", "a misaligned atomic"}
		i.Next = []string{receives + ", and " + depth + " and " + flags + of}
	}
}

// acceptedBefore says what is left of the causes where the responder has answered requests of the same operation: it supports it, and the queue pair has the right. many is that
// there are too many at once.
func acceptedBefore(i *Incident, k *qp.Refusal, many string) {
	b := &k.Beside
	i.fact("operation", fmt.Sprintf("the %v of frame %d was answered: the responder supports it, and its queue pair had the right to it then", k.Request.Op, b.SameOp.Frame))
	i.show(b.SameOp.Frame)
	i.FitsWith = []string{refusesNow}
	if b.AtOnce > 1 {
		i.fact("at once", fmt.Sprintf("%d READs and atomics, this one among them, waited for an answer when it was sent", b.AtOnce))
		i.FitsWith = append([]string{many}, i.FitsWith...)
		return
	}
	i.fact("at once", noneAtOnce)
}

const (
	refusesNow = "a responder that refuses what it accepted before: as where the right was taken from its queue pair since, or a bit of the request was altered"
	noneAtOnce = "no other READ or atomic waited for an answer when it was sent"
)

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
