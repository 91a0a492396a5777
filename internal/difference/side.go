package difference

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// operation is what the messages of an operation took in a direction between hosts.
type operation struct {
	hosts Hosts
	op    wqe.Op
}

// sums are those of a direction between hosts.
type sums struct {
	packets, retransmitted uint64
	bytes                  uint64
	first, last            int64
	settings               map[string]map[string]bool
}

// side is what one run has, by hosts.
type side struct {
	times map[operation]*verifier.Histogram
	sums  map[Hosts]*sums
}

// sideOf adds up a run. together says that all hosts are one.
func sideOf(r *agent.Result, together bool) *side {
	s := &side{map[operation]*verifier.Histogram{}, map[Hosts]*sums{}}
	for i := range r.Connections {
		c := &r.Connections[i]
		for k := range c.Ends {
			h := Hosts{c.Ends[k].Addr, c.Ends[1-k].Addr}
			if together {
				h = Hosts{}
			}
			s.end(c, k, h)
			if c.Timing != nil {
				s.timed(&c.Timing.Ends[k], h)
			}
		}
	}
	return s
}

// end adds an end of a connection.
func (s *side) end(c *agent.Connection, k int, h Hosts) {
	e := &c.Ends[k]
	if !c.Service.Reliable() || e.Packets == 0 {
		return
	}
	n := s.sums[h]
	if n == nil {
		n = &sums{first: math.MaxInt64, settings: map[string]map[string]bool{}}
		s.sums[h] = n
	}
	n.packets += e.Packets
	n.retransmitted += uint64(e.Retransmissions)
	n.bytes += e.Bytes
	n.first, n.last = min(n.first, c.First), max(n.last, e.Last)
	for what, value := range settings(c, e) {
		if n.settings[what] == nil {
			n.settings[what] = map[string]bool{}
		}
		n.settings[what][value] = true
	}
}

// settings are those of an end that are known.
func settings(c *agent.Connection, e *agent.End) map[string]string {
	m := map[string]string{}
	if c.PMTU != 0 {
		m["path MTU"] = fmt.Sprint(c.PMTU)
	}
	if e.Path.Known {
		m["P_Key"] = fmt.Sprintf("0x%04x", e.Path.PKey)
		if c.Encap.OnIP() {
			m["DSCP"] = fmt.Sprint(e.Path.DSCP)
		}
		if e.VLAN != 0 {
			m["VLAN"], m["PCP"] = fmt.Sprint(e.VLAN&0xFFF), fmt.Sprint(e.VLAN>>13)
		}
		if c.Encap == packet.Native {
			m["SL"] = fmt.Sprint(e.Path.SL)
		}
	}
	set := func(known qp.Known, what string, v uint8) {
		if e.Knows(known) {
			m[what] = fmt.Sprint(v)
		}
	}
	set(qp.KnowsTimeout, "ACK timeout", e.Timeout)
	set(qp.KnowsRetryCnt, "retry count", e.RetryCnt)
	set(qp.KnowsRNRRetry, "RNR retry count", e.RNRRetry)
	set(qp.KnowsMinRNRTimer, "RNR NAK timer", e.MinRNRTimer)
	set(qp.KnowsMaxRdAtomic, "initiator depth", e.InitiatorDepth)
	set(qp.KnowsMaxDestRdAtomic, "responder resources", e.ResponderResource)
	return m
}

// timed adds what the messages of an end took.
func (s *side) timed(e *timing.End, h Hosts) {
	for op, o := range e.Ops {
		if o == nil {
			continue
		}
		k := operation{h, wqe.Op(op)}
		if s.times[k] == nil {
			s.times[k] = new(verifier.Histogram)
		}
		s.times[k].Add(&o.Latency)
	}
}

func (s *sums) rate() float64 {
	if s.last <= s.first {
		return 0
	}
	return float64(s.bytes) / time.Duration(s.last-s.first).Seconds()
}

func (s *sums) share() float64 { return float64(s.retransmitted) / float64(s.packets) }

func values(set map[string]bool) string {
	var list []string
	for v := range set {
		list = append(list, v)
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return strings.Join(list, ", ")
}
