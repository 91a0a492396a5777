package report

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	pair "ibwitness/qp"
)

// jsonSettings is what a queue pair was told to do, as far as CM or its events tell.
type jsonSettings struct {
	Timeout     *uint8   `json:"timeout,omitempty"`         // code
	TimeoutTime *float64 `json:"timeout_seconds,omitempty"` // T_tr; 0: no timer
	RetryCnt    *uint8   `json:"retry_cnt,omitempty"`
	RNRRetry    *uint8   `json:"rnr_retry,omitempty"`
	MinRNRTimer *uint8   `json:"min_rnr_timer,omitempty"` // code
	Depth       *uint8   `json:"initiator_depth,omitempty"`
	Resources   *uint8   `json:"responder_resources,omitempty"`
	ByCM        bool     `json:"by_cm,omitempty"` // what only CM told, and the application may have set otherwise
}

func settingsOf(a *agent.Settings) *jsonSettings {
	s := &jsonSettings{}
	set := func(k pair.Known, to **uint8, v uint8) {
		if a.Knows(k) {
			*to = &v
			s.ByCM = s.ByCM || a.ByCM&k != 0
		}
	}
	set(pair.KnowsTimeout, &s.Timeout, a.Timeout)
	set(pair.KnowsRetryCnt, &s.RetryCnt, a.RetryCnt)
	set(pair.KnowsRNRRetry, &s.RNRRetry, a.RNRRetry)
	set(pair.KnowsMinRNRTimer, &s.MinRNRTimer, a.MinRNRTimer)
	set(pair.KnowsMaxRdAtomic, &s.Depth, a.InitiatorDepth)
	set(pair.KnowsMaxDestRdAtomic, &s.Resources, a.ResponderResource)
	if s.Timeout != nil {
		t := 0.0
		if *s.Timeout != 0 {
			t = packet.Timeout(*s.Timeout).Seconds()
		}
		s.TimeoutTime = &t
	}
	if *s == (jsonSettings{}) {
		return nil
	}
	return s
}

// jsonPath is what the packets of an end have in common on their way.
type jsonPath struct {
	DSCP *uint8 `json:"dscp,omitempty"`
	Port uint16 `json:"udp_source_port,omitempty"`
	SL   *uint8 `json:"sl,omitempty"`
	PKey string `json:"p_key"`
	VLAN uint16 `json:"vlan,omitempty"`
	PCP  uint8  `json:"pcp,omitempty"`
	// Shared is how many queue pairs send by the same addresses and UDP source port, this one among them, where others do.
	Shared int `json:"shared,omitempty"`
}

func pathOf(end *agent.End, e packet.Encap) *jsonPath {
	p := &end.Path
	if !p.Known {
		return nil
	}
	out := &jsonPath{PKey: fmt.Sprintf("0x%04x", p.PKey), VLAN: end.VLAN & 0xFFF, PCP: uint8(end.VLAN >> 13)}
	if e.OnIP() {
		dscp := p.DSCP // the line is read when the connection may have changed
		out.DSCP, out.Port = &dscp, p.Port
	}
	if e == packet.Native {
		sl := p.SL
		out.SL = &sl
	}
	return out
}

// jsonTrouble is what kept the requests of an end from being answered.
type jsonTrouble struct {
	Stalls       uint32  `json:"stalls"`
	Lost         float64 `json:"lost"`           // seconds without progress
	ByTimer      uint32  `json:"by_timer"`       // rounds of retransmission
	BySequence   uint32  `json:"by_sequence"`    // that a PSN sequence NAK asked for
	ByRNR        uint32  `json:"by_rnr"`         // an RNR NAK
	ByResponse   uint32  `json:"by_response"`    // a response that came before another
	Bytes        uint64  `json:"bytes"`          // retransmitted
	RNRWait      float64 `json:"rnr_wait"`       // seconds that RNR NAKs cost
	TimerSeconds float64 `json:"timer,omitzero"` // shortest time after which something was retransmitted that nothing had answered
}

func troubleOf(e *agent.End) *jsonTrouble {
	if e.Trouble == nil {
		return nil
	}
	k := e.Trouble.Settled(false) // the newest stall counts, also where it still waits
	if k.Sum.Count == 0 && k.RNR.NAKs == 0 && k.Refusal.Time == 0 && k.Longest[0].Begun == 0 {
		return nil // only notified
	}
	return &jsonTrouble{
		k.Sum.Count, time.Duration(k.Sum.Lost).Seconds(), k.Sum.Rounds[pair.TimerExpired], k.Sum.Rounds[pair.SequenceAsked], k.Sum.Rounds[pair.NotReady], k.Sum.Rounds[pair.ResponseLost],
		k.Again.Bytes, time.Duration(k.RNR.Waited).Seconds(), time.Duration(e.Timer).Seconds(),
	}
}

// settings writes, of each end of a connection, what its queue pair was told to do, how its packets travel, and what it sent in a second.
func (t *text) settings() {
	if !t.All {
		return
	}
	tab := newTable("", "endpoint", "ACK timeout", ">retries", ">RNR retries", ">READs", ">DSCP", ">UDP port", ">VLAN/PCP", ">P_Key", ">payload/s", ">stalled", "shortest timer")
	rows := 0
	for i := range t.res.Connections {
		c := &t.res.Connections[i]
		if !c.Service.Reliable() || !tells(&c.Ends[0]) && !tells(&c.Ends[1]) {
			continue
		}
		lead := c.Service.String()
		for k := range c.Ends {
			tab.add(append([]string{lead}, settingsRow(c, k)...)...)
			lead = ""
			rows++
		}
	}
	if rows == 0 {
		return
	}
	t.heading("Settings and paths")
	if !slices.ContainsFunc(t.res.Connections, func(c agent.Connection) bool { return c.Ends[0].VLAN|c.Ends[1].VLAN != 0 }) {
		tab.drop(">VLAN/PCP")
	}
	tab.fit(t.Width-2, "shortest timer", ">P_Key", ">READs", ">UDP port", ">VLAN/PCP", ">DSCP")
	t.lines(tab.lines("  ", t.dim))
	t.sharedPaths()
}

// tells reports whether there is anything to say of an end.
func tells(e *agent.End) bool { return e.Known != 0 || e.Path.Known || e.Trouble != nil }

func settingsRow(c *agent.Connection, k int) []string {
	e := &c.Ends[k]
	a := &e.Settings
	value := func(known pair.Known, v uint8) string {
		if !a.Knows(known) {
			return "?"
		}
		return strconv.Itoa(int(v))
	}
	timeout := "?"
	if a.Knows(pair.KnowsTimeout) {
		if timeout = "none"; a.Timeout != 0 {
			timeout = fmt.Sprintf("%v (%d)", packet.Timeout(a.Timeout), a.Timeout)
		}
	}
	dscp, port, vlan, pkey := "–", "–", "–", "–"
	if p := pathOf(e, c.Encap); p != nil {
		pkey = p.PKey
		if e.VLAN != 0 {
			vlan = fmt.Sprintf("%d/%d", p.VLAN, p.PCP)
		}
		if p.DSCP != nil {
			dscp, port = strconv.Itoa(int(*p.DSCP)), strconv.Itoa(int(p.Port))
		}
	}
	rate, stalled, timer := "–", "–", "–"
	if d := e.Last - c.First; d > 0 && e.Bytes > 0 {
		rate = size(uint64(float64(e.Bytes) / time.Duration(d).Seconds()))
	}
	if x := troubleOf(e); x != nil {
		stalled = least(e) + span(time.Duration(x.Lost*1e9))
	}
	if e.Timer != 0 {
		timer = span(time.Duration(e.Timer))
	}
	return []string{
		e.Addr.String() + " " + qp(e.QPN, e.QPNKnown), timeout, value(pair.KnowsRetryCnt, a.RetryCnt), value(pair.KnowsRNRRetry, a.RNRRetry), value(pair.KnowsMaxRdAtomic, a.InitiatorDepth),
		dscp, port, vlan, pkey, rate, stalled, timer,
	}
}
