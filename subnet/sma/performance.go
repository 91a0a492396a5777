package sma

import (
	"ibwitness/mad"
)

// Counter is one counter of a port (sections 16.1.3.5 and 16.1.4.11).
type Counter uint8

// The counters of PortCounters, in the order of CounterSelect, and those of PortCountersExtended.
const (
	SymbolErrors Counter = iota
	LinkErrorRecovery
	LinkDowned
	RcvErrors
	RcvRemotePhysicalErrors
	RcvSwitchRelayErrors
	XmitDiscards
	XmitConstraintErrors
	RcvConstraintErrors
	LocalLinkIntegrityErrors
	ExcessiveBufferOverruns
	VL15Dropped
	XmitData // units of 4 bytes
	RcvData
	XmitPkts
	RcvPkts
	XmitWait
	xmitDataExt
	rcvDataExt
	xmitPktsExt
	rcvPktsExt
	UnicastXmitPkts
	UnicastRcvPkts
	MulticastXmitPkts
	MulticastRcvPkts
	numCounters
)

// selected is a counter as an attribute has it: its component, and its bit of CounterSelect.
type selected struct {
	Counter
	mad.Field
	bit uint
}

var (
	portCounters = counters(mad.LayoutPortCounters, SymbolErrors, "symbolErrorCounter", "linkErrorRecoveryCounter", "linkDownedCounter", "portRcvErrors",
		"portRcvRemotePhysicalErrors", "portRcvSwitchRelayErrors", "portXmitDiscards", "portXmitConstraintErrors", "portRcvConstraintErrors",
		"localLinkIntegrityErrors", "excessiveBufferOverrunErrors", "VL15Dropped", "portXmitData", "portRcvData", "portXmitPkts", "portRcvPkts", "portXmitWait")
	portCountersExtended = counters(mad.LayoutPortCountersExtended, xmitDataExt, "portXmitData", "portRcvData", "portXmitPkts", "portRcvPkts", "portUnicastXmitPkts",
		"portUnicastRcvPkts", "portMulticastXmitPkts", "portMulticastRcvPkts")
)

func counters(l *mad.Layout, first Counter, names ...string) (list []selected) {
	for i, name := range names {
		list = append(list, selected{first + Counter(i), l.Field(name), uint(i)})
	}
	return list
}

// most is the greatest value of each counter, at which it stays (rule MAD-PM-001).
var most = func() (m [numCounters]uint64) {
	for _, list := range [][]selected{portCounters, portCountersExtended} {
		for _, c := range list {
			m[c.Counter] = 1<<c.Bits - 1
		}
	}
	return m
}()

// Count adds to a counter of a port; those of data and packets count in PortCounters and in PortCountersExtended.
func (n *Node) Count(number uint8, c Counter, by uint64) {
	p := n.at(int(number))
	if p == nil || c >= numCounters {
		return
	}
	switch {
	case n.has(counterOff) && (c == XmitData || c == RcvData):
		by++
	case n.has(packetsUncounted) && c == XmitPkts:
		return
	case n.has(counterWrong) && c < VL15Dropped:
		c++
	}
	n.count(p, c, by)
	if c >= XmitData && c <= RcvPkts {
		n.count(p, c-XmitData+xmitDataExt, by)
	}
}

func (n *Node) count(p *port, c Counter, by uint64) {
	switch {
	case n.has(extendedNarrow) && c >= xmitDataExt:
		p.counters[c] = min(p.counters[c]+by, 1<<32-1)
	case n.has(counterWraps):
		p.counters[c] = (p.counters[c] + by) & most[c]
	case by > most[c]-p.counters[c]:
		p.counters[c] = most[c]
	default:
		p.counters[c] += by
	}
}

// Bits of ClassPortInfo:CapabilityMask of performance management (section 16.1.3.1).
const (
	allPortSelect   = 1 << 8
	extendedWidth   = 1 << 9
	xmitWaitCounted = 1 << 12
)

// generalMAD answers the MAD of a general management class: the node has an agent of performance management (chapter 16), and refuses the others.
func (n *Node) generalMAD(_ int64, p *port, b []byte) []byte {
	var h mad.Header
	if mad.DecodeHeader(b, &h) != nil || h.Method&0x80 != 0 && (h.Method != mad.GetResp || !n.has(answersAnswer)) || h.Method == mad.TrapRepress || h.Method == mad.Trap {
		return nil
	}
	if n.repeats(h.Method, h.Attribute) {
		return nil
	}
	out := append([]byte(nil), b[:mad.Size]...)
	h.Status = uint16(n.performance(&h, p, out[mad.PerformanceData:]))
	h.Method = mad.GetResp
	if h.Encode(out) != nil {
		return nil
	}
	return out
}

// performance carries out a request of performance management on its attribute.
func (n *Node) performance(h *mad.Header, p *port, data []byte) mad.Status {
	switch {
	case h.Class != mad.ClassPerformance && n.has(classRefused7):
		return mad.StatusValue
	case h.Class != mad.ClassPerformance && !n.has(classTaken):
		return mad.StatusAttribute
	case (h.BaseVersion != 1 || h.ClassVersion != 1) && !n.has(versionIgnored):
		return mad.StatusVersion
	case h.Method != mad.Get && h.Method != mad.Set:
		return n.noMethod()
	}
	switch h.Attribute {
	case mad.AttrClassPortInfo:
		return n.classPortInfo(h, data)
	case mad.AttrPortCounters:
		set := mad.LayoutPortCounters.Field("counterSelect").Uint(data) | mad.LayoutPortCounters.Field("counterSelect2").Uint(data)<<16
		return n.portCounters(h, p, data, portCounters, set)
	case mad.AttrPortCountersExtended:
		return n.portCounters(h, p, data, portCountersExtended, mad.LayoutPortCountersExtended.Field("counterSelect").Uint(data))
	}
	return n.unsupported()
}

// classPortInfo is ClassPortInfo of performance management (section 13.4.8.1).
func (n *Node) classPortInfo(h *mad.Header, data []byte) mad.Status {
	if h.Method != mad.Get || n.has(classPortInfoMissing) {
		return mad.StatusAttribute
	}
	clear(data[:mad.LayoutClassPortInfo.Size])
	put := func(name string, v uint64) { mad.LayoutClassPortInfo.Field(name).PutUint(data, v) }
	put("baseVersion", 1)
	put("classVersion", 1)
	put("capabilityMask", allPortSelect|extendedWidth|xmitWaitCounted)
	put("respTimeValue", uint64(n.config.RespTime))
	if n.has(classPortInfoVersions) {
		put("baseVersion", 2)
	}
	return 0
}

// portCounters is PortCounters or PortCountersExtended: PortSelect 255 means all ports, and a Set writes the counters that CounterSelect names.
func (n *Node) portCounters(h *mad.Header, p *port, data []byte, list []selected, set uint64) mad.Status {
	ports := n.selected(p, data[1])
	if len(ports) == 0 {
		return mad.StatusValue
	}
	for _, c := range list {
		sum := uint64(0)
		for _, p := range ports {
			kept := n.has(counterNotStored) || n.has(counterKept) && c.Uint(data) == 0
			if h.Method == mad.Set && (set>>c.bit&1 != 0 || n.has(counterSelectIgnored)) && !kept {
				p.counters[c.Counter] = c.Uint(data)
			}
			if sum += p.counters[c.Counter]; sum < p.counters[c.Counter] || sum > most[c.Counter] {
				sum = most[c.Counter]
			}
		}
		c.PutUint(data, sum)
	}
	return 0
}

// selected are the ports that PortSelect means.
func (n *Node) selected(p *port, number uint8) []*port {
	if n.has(portSelectIgnored) {
		return []*port{p}
	}
	if number != 255 {
		if q := n.at(int(number)); q != nil {
			return []*port{q}
		}
		return nil
	}
	var all []*port
	first := 1
	if n.has(sumWrong) {
		first = 2
	}
	for i := first; i < len(n.ports); i++ {
		all = append(all, &n.ports[i])
	}
	return all
}
