package incident

import (
	"fmt"
	"slices"
	"strings"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// usedInvalidated tells of a request that its peer refuses as the requester had itself invalidated its R_Key, with a SEND with Invalidate, and reports whether it had. Where it is not known that its peer has not named that
// R_Key once more since, that fits too.
func (t *teller) usedInvalidated(i *Incident, c *agent.Connection, from int, k *qp.Refusal) bool {
	broken, at, key := t.invalidated(c, from, k), k.Invalidated, k.Request.RKey
	named := namedBy(c, from)
	again := !broken // the peer may have named it once more since
	switch {
	case !broken && !stillInvalidated(c, k):
		return false
	case t.renewed(c, from, k) == nil && t.keyed(c, from, k) != nil:
		return false // that tells more of it
	case t.renewed(c, from, k) != nil:
		named, again = nil, false
	case named == nil || at == nil || named.Of.Tap != k.Tap || t.lossy():
		named = nil
	case named.Of.Frame > at.Frame: // it has
		return broken
	default:
		again = false
	}
	by, own := t.invalidatedFor(c, from, named)
	if by != nil && !own && named != nil && !named.Done {
		t.invalidatedForOther(i, k, named, by)
		return true
	}
	after := ""
	if at != nil {
		after = t.within(", %s after the invalidation", k.Time-at.Time)
		i.show(at.Frame)
	}
	if own {
		after += ", which came with the answer to the command that had named it"
	}
	i.What = fmt.Sprintf("%v sent %s with an R_Key that it had itself invalidated, with a SEND with Invalidate: %v refused it (%s)%s. The connection is over.", &i.Local, article(operation(&k.Request)), &i.Peer, refusal(k.Code), after)
	where := "before"
	if at != nil {
		where = fmt.Sprintf("in frame %d", at.Frame)
	}
	over := fmt.Sprintf("it is not valid any more (%v)", rule.RCINV001)
	if again {
		over = fmt.Sprintf("it is not valid any more, unless %v has named it once more since", i.Peer.Addr)
	}
	renewed := t.renewed(c, from, k)
	if renewed != nil {
		over = "it is not valid any more"
	}
	i.fact("R_Key", fmt.Sprintf("a SEND with Invalidate of this queue pair named R_Key 0x%x %s: %s", key, where, over))
	i.FitsWith = []string{"a requester that goes on with an R_Key which it has itself had invalidated"}
	i.Next = []string{"in which order the program on " + i.Local.Addr.String() + " posts: the SEND with Invalidate comes after all that uses the R_Key, and the peer has to advertise a new one after it"}
	switch {
	case renewed != nil:
		i.usedFormer(k, renewed)
	case again:
		i.FitsWith = append(i.FitsWith, fmt.Sprintf("memory that %v has registered with the same R_Key once more and named since, and that is not valid either", i.Peer.Addr))
	case named != nil && named.Done && !holds(named, k):
		i.Facts[len(i.Facts)-1].Text += fmt.Sprintf("; that was the R_Key of %s, which had its answer, for %s at 0x%x: this address is not in that",
			named.Of.Name, count(uint64(named.Length), "byte"), named.Addr)
		i.show(named.Of.Frame)
		i.FitsWith = []string{fmt.Sprintf("%v, which used the R_Key that it keeps of a command which was over, for other memory", i.Local.Addr)}
		i.Next = []string{nextOn(i.Local.Addr, i.Peer.Addr, "how its software comes by the address and R_Key of what it uses, and what it keeps of an earlier command")}
	case named != nil && named.Done:
		i.Facts[len(i.Facts)-1].Text += fmt.Sprintf("; that was the R_Key of %s, which had its answer; no later command in the capture names these bytes with it", named.Of.Name)
		i.show(named.Of.Frame)
		if x := k.SentAfter; x == nil || !x.Invalidates || x.InvRKey == key { // else it may be for what that one answers
			t.answeredTooSoon(i, named, k)
		}
	}
	return true
}

// surelyKept is within how many frames before a refusal all that was accepted is kept for sure: half as many as qp.Accepted keeps ranges.
const surelyKept = 64

// answeredTooSoon says what fits a requester that had answered command named, and so invalidated the R_Key of request k: it moved the data once more, or had not moved all of it, or none, by then.
func (t *teller) answeredTooSoon(i *Incident, named *agent.Named, k *qp.Refusal) {
	r, by := &k.Request, i.Local.Addr
	moved, data, done := &k.Beside.SameKey[qp.RightOf(r.Op)], "written the data", "writes"
	low, high := extent(r)
	if r.Op == wqe.Read {
		data, done = "fetched the data", "fetches"
	}
	if moved.Newest <= named.Of.Frame || !moved.Covers(low, high) {
		switch {
		case moved.Newest > named.Of.Frame:
			data = strings.Replace(data, "the data", "all of the data", 1)
		case k.Frame-named.Of.Frame > surelyKept:
			i.FitsWith = []string{fmt.Sprintf("%v, which served a command once more that it had answered, or answered it before it had %s", by, data)}
			i.Next = []string{nextOn(by, i.Peer.Addr, "how its software used the memory of "+named.Of.Name+" after it had answered it")}
			return
		default:
			i.Facts[len(i.Facts)-1].Text += "; no request had used it for that command"
		}
		i.FitsWith = []string{fmt.Sprintf("%v, which answered the command, and so invalidated the R_Key, before it had %s", by, data)}
		i.Next = []string{nextOn(by, i.Peer.Addr, "in which order its software "+done+" the data of a command and answers it")}
		return
	}
	i.FitsWith = []string{fmt.Sprintf("%v, which served a command once more that it had answered", by)}
	i.Next = []string{nextOn(by, i.Peer.Addr, "why its software used the memory of "+named.Of.Name+" after it had answered it")}
}

// holds reports whether memory that a command has named has the address of a refused request.
func holds(n *agent.Named, k *qp.Refusal) bool {
	return k.Request.VA >= n.Addr && k.Request.VA-n.Addr < uint64(n.Length)
}

// nextOn is what to look at on a host, and not on the one that refuses.
func nextOn(by, not packet.Addr, what string) string {
	return fmt.Sprintf("on %v, not on %v: %s; its log and version", by, not, what)
}

// stillInvalidated reports whether a SEND with Invalidate on the same connection had named the R_Key of a refused request, and no request with it was accepted since, as where it was valid once more.
func stillInvalidated(c *agent.Connection, k *qp.Refusal) bool {
	at := k.Invalidated
	return at != nil && (c.FirstTap != k.Tap || at.Frame >= c.FirstFrame) && !slices.ContainsFunc(k.Beside.SameKey[:], func(r qp.AcceptedRange) bool { return r.Newest > at.Frame })
}

// namedBy is the memory that a command of the peer of end from of a connection had named with the R_Key of the request which it refuses; nil: none is known.
func namedBy(c *agent.Connection, from int) *agent.Named {
	if c.Upper == nil || c.Upper.Named[from] == nil || c.Upper.Named[from].Of == nil {
		return nil
	}
	return c.Upper.Named[from]
}
