package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// tooLong tells of a refused SEND what leaves a message that is longer than the receive: that it is a plain one, and that it is longer than what the
// responder announced for its receives. Then whoever sends it is the cause.
func (t *teller) tooLong(i *Incident, c *agent.Connection, from int, k *qp.Refusal) {
	r := &k.Request
	if r.Op != wqe.Send || !k.Plain {
		return
	}
	i.FitsWith = i.FitsWith[:1] // no operation that a responder might not support
	t.sameCommand(i, c, from, k)
	if own := acked(c, from); own > 0 && own < r.Length {
		i.fact("accepted", fmt.Sprintf("SENDs of up to %s before it", count(uint64(own), "byte")))
	}
	announced, mine := &c.Ends[1-from].Settings, &c.Ends[from].Settings
	size := uint32(announced.Receives) << 10
	if size == 0 || r.Length <= size {
		return
	}
	text := fmt.Sprintf("%v announced in the private data of CM (RPC over RDMA, RFC 8797) that its receives are of %s: the SEND is longer", i.Peer.Addr, count(uint64(size), "byte"))
	if mine.Receives > 0 && mine.Receives != announced.Receives {
		text += fmt.Sprintf("; %v announced %s for its own", i.Local.Addr, count(uint64(mine.Receives)<<10, "byte"))
	}
	i.What += fmt.Sprintf(" The SEND is longer than the receives of %s that %v announced.", count(uint64(size), "byte"), i.Peer.Addr)
	i.fact("receives", text)
	i.FitsWith = []string{fmt.Sprintf("an RPC client or server on %v that does not heed the size of receives which its peer announces (its inline threshold)", i.Local.Addr)}
	i.Next = []string{fmt.Sprintf("the inline threshold of RPC over RDMA on %v, against the %s that %v announces; or longer receives on %v", i.Local.Addr, count(uint64(size), "byte"), i.Peer.Addr, i.Peer.Addr)}
}

// sameCommand tells that the requester sent the command of a refused SEND on several connections to the same host, each of which was refused.
func (t *teller) sameCommand(i *Incident, c *agent.Connection, from int, k *qp.Refusal) {
	o := commandOf(c, from, k)
	if o == nil {
		return
	}
	n := 0
	for j := range t.run.Connections {
		d := &t.run.Connections[j]
		for end := range d.Ends {
			x := d.Ends[end].Trouble
			if d == c || x == nil || x.Refusal.Code != k.Code || d.Ends[end].Addr != c.Ends[from].Addr || d.Ends[1-end].Addr != c.Ends[1-from].Addr {
				continue
			}
			if p := commandOf(d, end, &x.Refusal); p != nil && p.ID == o.ID && p.Name == o.Name {
				n++
			}
		}
	}
	if n > 0 {
		i.fact("same", fmt.Sprintf("%v repeats this command on each new connection that is refused so: on %d more", i.Local.Addr, n))
	}
}

// commandOf is the command that a refused SEND begins, where it is the oldest that has no answer; nil: it is not.
func commandOf(c *agent.Connection, from int, k *qp.Refusal) *agent.Operation {
	if c.Upper == nil || c.Upper.Oldest == nil || c.Upper.Oldest.From != from || c.Upper.Oldest.Frame != k.Request.Frame || k.Request.Frame == 0 {
		return nil
	}
	return c.Upper.Oldest
}

// acked is how long the longest SEND of an end was that was acknowledged, bytes; 0: that is not known.
func acked(c *agent.Connection, from int) uint32 {
	if c.Timing == nil {
		return 0
	}
	if o := c.Timing.Ends[from].Ops[wqe.Send]; o != nil {
		return o.Answered
	}
	return 0
}

// goesOnAfterNAK says on how many of the other connections that were refused like the one of i packets came after the NAK, where none did on that; "": on none.
func (t *teller) goesOnAfterNAK(i *Incident) string {
	if i.Kind != Refused || !t.timed() || !slices.ContainsFunc(i.Facts, func(f Fact) bool { return f.Text == noneAfterNAK }) {
		return ""
	}
	n := 0
	for j := range t.run.Connections {
		c := &t.run.Connections[j]
		for end := range c.Ends {
			x := c.Ends[end].Trouble
			if x == nil || x.Refusal.Time == 0 || (way{i.Local.Addr, i.Peer.Addr}) != (way{c.Ends[end].Addr, c.Ends[1-end].Addr}) {
				continue
			}
			if max(c.Ends[0].Last, c.Ends[1].Last) > x.Refusal.Time {
				n++
			}
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", but packets came after the NAK on %d of them", n)
}

const noneAfterNAK = "no packet of the connection came after the NAK; what else was posted completes with WR_FLUSH_ERR"
