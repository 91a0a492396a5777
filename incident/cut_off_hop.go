package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// router is by which router the packets of a host come to the tap, and whether they came by another after it was cut off.
type router struct {
	at, then uint64     // Ethernet addresses; then is 0 where it did not change
	turn     agent.Seen // the first by the other
}

// routerTo returns by which router a host came that was cut off, where others that went on did not come by it; nil: that is not known. An Ethernet address is
// a router's from which packets or ARP of another host come, too.
func (t *teller) routerTo(a packet.Addr, list []cutOff, went []packet.Addr) *router {
	if len(t.run.Taps) > 1 {
		return nil
	}
	var r router
	others := map[uint64]bool{} // from which those come that went on
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for k := range c.Ends {
			e := &c.Ends[k]
			switch {
			case e.Hop == nil || e.Packets == 0 || e.Addr != a && !slices.Contains(went, e.Addr):
			case e.Hop.From == 0:
				return nil
			case e.Addr != a:
				others[e.Hop.From], others[e.Hop.Turned] = true, true
			case c.First > list[0].from:
			case r.at != 0 && r.at != e.Hop.From:
				return nil
			default:
				r.at = e.Hop.From
				if h := e.Hop; h.Turned != 0 && (r.then == 0 || h.Turn.At < r.turn.At) {
					r.then, r.turn = h.Turned, h.Turn
				}
			}
		}
	}
	if r.at == 0 || len(others) == 0 || others[r.at] || !t.isRouter(r.at, a) || r.then != 0 && !t.isRouter(r.then, a) {
		return nil
	}
	if !slices.ContainsFunc(list, func(k cutOff) bool { return r.turn.At >= k.from && r.turn.At <= k.to+interruption }) {
		r.then = 0
	}
	return &r
}

// isRouter reports whether packets or ARP of another host than one come from an Ethernet address.
func (t *teller) isRouter(at uint64, but packet.Addr) bool {
	return slices.ContainsFunc(t.run.Signs, func(s agent.Sign) bool {
		return s.Station == at && s.Host != but && !s.Host.IsZero() && (s.By == fabricagent.ByARP || s.By >= fabricagent.ByFIN)
	}) || slices.ContainsFunc(t.run.Connections, func(c agent.Connection) bool {
		return slices.ContainsFunc(c.Ends[:], func(e agent.End) bool { return e.Addr != but && e.Hop != nil && e.Hop.From == at })
	})
}

// byRouter says that a host that was cut off comes by a router, and what fits that: the router first, and nothing else where it came by another one after that.
func (t *teller) byRouter(i *Incident, a packet.Addr, list []cutOff, went []packet.Addr) {
	r := t.routerTo(a, list, went)
	if r == nil {
		return
	}
	said := fmt.Sprintf("the packets of %v come by a router, at the Ethernet address %s; those of %s do not", a, station(r.at), someOf(went))
	if r.then == 0 {
		i.fact("router", said)
		i.FitsWith = append([]string{fmt.Sprintf("the router at %s, or a link, switch or route between it and %v", station(r.at), a)}, i.FitsWith...)
		i.Next = append([]string{fmt.Sprintf("the log of the router at %s, and of its links, at that time", station(r.at))}, i.Next...)
		return
	}
	i.What = fmt.Sprintf("Packets of %v, which had come by the router at %s, came by another at %s from frame %d on. %s", a, station(r.at), station(r.then), r.turn.Frame, i.What)
	i.fact("router", said)
	i.show(r.turn.Frame)
	i.FitsWith = []string{fmt.Sprintf("a router at %s that failed, or was taken out, and another that took over (VRRP, MLAG): it is not %v, nor its link", station(r.at), a)}
	i.Next = []string{fmt.Sprintf("the failover of the router at %s: its log, and how long it takes (VRRP, MLAG)", t.offset(r.turn.At))}
}
