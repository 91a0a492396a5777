package verifier_test

import (
	"encoding/binary"
	"fmt"
	"strings"

	"ibwitness/mad"
	"ibwitness/packet"
)

// talk is the newest exchange of two hosts: what a CM_ line does not say of it.
type talk struct {
	active  string // host that sent the REQ
	n       uint32 // exchanges begun before
	replied bool
	dreqs   [2]uint64 // transactions of the DREQs of the two sides
	lap     uint64
}

// The communication identifiers of the two sides of the first exchange, and its transaction.
const (
	commActive  = 0xA0
	commPassive = 0xB0
	transaction = 77
)

// exchange returns the newest exchange of two hosts.
func (s *scenario) exchange(src, dst end) *talk {
	k := [2]string{min(src.name, dst.name), max(src.name, dst.name)}
	if s.talks == nil {
		s.talks = map[[2]string]*talk{}
	}
	if s.talks[k] == nil {
		s.talks[k] = &talk{active: src.name}
	}
	return s.talks[k]
}

// cmLine is a CM_ line being made into a message.
type cmLine struct {
	*scenario
	*fields
	*talk
	src, dst end
	header   mad.Header
	ids      [2]uint32 // local and remote communication ID
	xrc      bool
}

func (c *cmLine) get(field string, otherwise uint64) uint64 {
	if n, ok := c.number(field); ok {
		return n
	}
	return otherwise
}

func (c *cmLine) has(field string) bool { return c.get(field, 0) != 0 }

// gid is what a host is called in a path.
func (c *cmLine) gid(field string, e end) packet.Addr {
	if w, ok := c.word(field); ok {
		a, err := packet.ParseAddr(w)
		if err == nil {
			return a
		}
	}
	if a := c.encap.addr(e.host); !a.IsLID() {
		return a
	}
	return gid(e.host)
}

// message builds the management datagram of a CM_ line. The psn of a REQ or REP is where its receiver starts to send.
func (s *scenario) message(name string, src, dst end, f *fields) ([]byte, error) {
	c := &cmLine{scenario: s, fields: f, src: src, dst: dst}
	c.xrc = strings.HasPrefix(name, "CM_XRC_")
	attr, ok := cmMessages[strings.Replace(name, "_XRC", "", 1)]
	if !ok {
		return nil, fmt.Errorf("no message %s: give CM_REQ, CM_MRA, CM_REJ, CM_REP, CM_RTU, CM_DREQ, CM_DREP, CM_SIDR_REQ, CM_SIDR_REP, CM_LAP or CM_APR", name)
	}
	c.talk = s.exchange(src, dst)
	if attr == mad.AttrREQ || attr == mad.AttrSIDRReq {
		if c.replied {
			c.n, c.replied = c.n+1, false
		}
		c.active = src.name
	}
	c.replied = c.replied || attr == mad.AttrREP
	c.ids = [2]uint32{commActive + 0x100*c.n, commPassive + 0x100*c.n}
	me := 0
	if src.name != c.active {
		c.ids[0], c.ids[1] = c.ids[1], c.ids[0]
		me = 1
	}
	tid := uint64(transaction + 10*c.n)
	switch attr {
	case mad.AttrDREQ:
		tid += uint64(1 + me)
		tid = c.get("tid", tid)
		c.dreqs[me] = tid
	case mad.AttrDREP:
		tid = c.dreqs[1-me]
	case mad.AttrLAP:
		tid = c.get("tid", tid+3)
		c.lap = tid
	case mad.AttrAPR:
		tid = c.lap
	}
	c.header = mad.CMHeader(attr, c.get("tid", tid))
	c.header.ClassVersion = uint8(c.get("version", 2))
	c.header.Method = mad.Method(c.get("method", uint64(mad.Send)))
	c.header.Status, c.header.Modifier = uint16(c.get("status", 0)), uint32(c.get("modifier", 0))
	c.ids[0], c.ids[1] = uint32(c.get("id", uint64(c.ids[0]))), uint32(c.get("rid", uint64(c.ids[1])))
	m := c.build(attr)
	c.header.Attribute = mad.Attribute(c.get("attribute", uint64(attr)))
	at, poked := c.number("at") // a byte of the message, for fields that have no name here
	value := c.get("byte", 0)
	size := c.get("bytes", mad.Size)
	if len(f.names) > 0 {
		return nil, fmt.Errorf("%s has no field %s", name, strings.Join(f.names, ", "))
	}
	b := make([]byte, max(mad.Size, size))
	if err := m.Encode(b); err != nil {
		return nil, err
	}
	binary.BigEndian.PutUint16(b[16:], uint16(c.header.Attribute))
	if poked {
		b[at] = uint8(value)
	}
	return b[:size], nil
}

// cmMessages are the messages of CM_ lines.
var cmMessages = map[string]mad.Attribute{
	"CM_REQ": mad.AttrREQ, "CM_MRA": mad.AttrMRA, "CM_REJ": mad.AttrREJ, "CM_REP": mad.AttrREP, "CM_RTU": mad.AttrRTU, "CM_DREQ": mad.AttrDREQ,
	"CM_DREP": mad.AttrDREP, "CM_SIDR_REQ": mad.AttrSIDRReq, "CM_SIDR_REP": mad.AttrSIDRRep, "CM_LAP": mad.AttrLAP, "CM_APR": mad.AttrAPR,
}

func (c *cmLine) build(attr mad.Attribute) mad.Message {
	switch attr {
	case mad.AttrREQ:
		return c.buildREQ()
	case mad.AttrMRA:
		return &mad.MRA{
			Header: c.header, LocalCommID: c.ids[0], RemoteCommID: c.ids[1], Answered: mad.Answered(c.get("of", 0)),
			ServiceTimeout: uint8(c.get("service", 20)), Reserved1: uint8(c.get("res", 0)),
		}
	case mad.AttrREJ:
		info := make([]byte, 8)
		binary.BigEndian.PutUint64(info, c.get("guid", 0x900+c.src.n))
		if !c.replied && c.src.name != c.active {
			c.ids[0] = 0
		}
		of := uint64(2)
		if !c.replied && c.src.name != c.active {
			of = 0
		}
		return &mad.REJ{
			Header: c.header, LocalCommID: c.ids[0], RemoteCommID: c.ids[1], Rejected: mad.Answered(c.get("of", of)),
			Reason: mad.RejReason(c.get("reason", uint64(mad.RejConsumer))), InfoLength: uint8(c.get("info", 0)), Info: info, Reserved1: uint8(c.get("res", 0)),
		}
	case mad.AttrREP:
		qpn, eecn, srq := uint64(c.src.qpn), uint64(0), uint64(0)
		if c.xrc {
			qpn, eecn, srq = 0, qpn, 1
		}
		return &mad.REP{
			Header: c.header, LocalCommID: c.ids[0], RemoteCommID: c.ids[1], LocalQPN: uint32(c.get("qpn", qpn)), LocalEECN: uint32(c.get("eecn", eecn)),
			StartingPSN: packet.PSN(c.get("psn", uint64(c.dst.start))), ResponderResources: uint8(c.get("dest_rd", 16)), InitiatorDepth: uint8(c.get("rd", 16)),
			FlowControl: c.has("credits"), SRQ: c.get("srq", srq) != 0, RNRRetryCount: uint8(c.get("rnr_retry", 7)), LocalCAGUID: c.get("guid", 0x900+c.src.n),
			TargetAckDelay: uint8(c.get("delay", 10)), FailoverAccepted: uint8(c.get("failover", 0)), Reserved: uint8(c.get("res", 0)),
		}
	case mad.AttrRTU:
		return &mad.RTU{Header: c.header, LocalCommID: c.ids[0], RemoteCommID: c.ids[1]}
	case mad.AttrDREQ:
		return &mad.DREQ{
			Header: c.header, LocalCommID: c.ids[0], RemoteCommID: c.ids[1], RemoteQPN: uint32(c.get("qpn", uint64(c.dst.qpn))), Reserved: uint8(c.get("res", 0)),
		}
	case mad.AttrDREP:
		return &mad.DREP{Header: c.header, LocalCommID: c.ids[0], RemoteCommID: c.ids[1]}
	case mad.AttrSIDRReq:
		return &mad.SIDRReq{
			Header: c.header, RequestID: uint32(c.get("request", 0xC0)), PKey: uint16(c.get("pkey", 0xFFFF)), ServiceID: mad.ServiceID(c.get("sid", 0x1110001)),
			Private: c.private(), Reserved: uint16(c.get("res", 0)),
		}
	case mad.AttrSIDRRep:
		return &mad.SIDRRep{
			Header: c.header, RequestID: uint32(c.get("request", 0xC0)), Status: mad.SIDRStatus(c.get("result", 0)), QPN: uint32(c.get("qpn", uint64(c.src.qpn))),
			ServiceID: mad.ServiceID(c.get("sid", 0x1110001)), QKey: uint32(c.get("qkey", 0x1234)),
		}
	case mad.AttrLAP:
		return &mad.LAP{
			Header: c.header, LocalCommID: c.ids[0], RemoteCommID: c.ids[1], RemoteQPN: uint32(c.get("qpn", uint64(c.dst.qpn))), RemoteCMTimeout: 20,
			LocalGID: c.gid("sgid", c.src), RemoteGID: c.gid("dgid", c.dst), HopLimit: 64, LocalAckTimeout: 14, Reserved1: uint32(c.get("res", 0)),
		}
	}
	return &mad.APR{
		Header: c.header, LocalCommID: c.ids[0], RemoteCommID: c.ids[1], Status: mad.APRStatus(c.get("result", 0)), Reserved: uint16(c.get("res", 0)),
	}
}

func (c *cmLine) buildREQ() mad.Message {
	local := uint64(0)
	if c.encap.name == "ib" {
		local = 1
	}
	local = c.get("local", local)
	hops, lids := uint64(64), [2]uint64{mad.PermissiveLID, mad.PermissiveLID}
	if local != 0 {
		hops, lids = 0, [2]uint64{c.src.n, c.dst.n}
	}
	resources, retries, transport, extended := uint64(16), uint64(7), mad.TransportRC, uint64(0)
	if c.xrc {
		resources, retries, transport, extended = 0, 0, mad.TransportExtended, mad.ExtendedXRC
	}
	q := &mad.REQ{
		Header: c.header, LocalCommID: c.ids[0], ServiceID: mad.ServiceID(c.get("sid", 0x1060001)), LocalQPN: uint32(c.get("qpn", uint64(c.src.qpn))),
		LocalCAGUID: c.get("guid", 0x900+c.src.n), LocalQKey: uint32(c.get("qkey", 0)), RDCExists: c.has("rdc"),
		ResponderResources: uint8(c.get("dest_rd", resources)), InitiatorDepth: uint8(c.get("rd", 16)), FlowControl: c.has("credits"), SRQ: c.has("srq"),
		StartingPSN: packet.PSN(c.get("psn", uint64(c.dst.start))), RetryCount: uint8(c.get("retry", retries)), PKey: uint16(c.get("pkey", 0xFFFF)),
		RNRRetryCount: uint8(c.get("rnr_retry", retries)), MaxCMRetries: uint8(c.get("retries", 15)),
		RemoteCMTimeout: uint8(c.get("wait", 20)), LocalCMTimeout: uint8(c.get("local_wait", 20)),
		Transport: mad.Transport(c.get("transport", uint64(transport))), ExtendedTransport: uint8(c.get("extended", extended)), Reserved1: uint8(c.get("res", 0)), Private: c.private(),
		Primary: mad.Path{
			TClass: uint8(c.get("tclass", 0)), HopLimit: uint8(c.get("ttl", hops)), SL: uint8(c.get("sl", 0)), SubnetLocal: local != 0,
			LocalAckTimeout: uint8(c.get("timeout", 14)), LocalLID: uint16(c.get("slid", lids[0])), RemoteLID: uint16(c.get("dlid", lids[1])),
			LocalGID: c.gid("sgid", c.src), RemoteGID: c.gid("dgid", c.dst),
		},
	}
	if mtu, ok := c.number("mtu"); ok {
		q.PathMTU = uint8(mtu)
	} else {
		for mtu := c.get("pmtu", 1024); q.PathMTU < 6 && uint64(128)<<q.PathMTU != mtu; q.PathMTU++ {
		}
	}
	if c.has("uc") {
		q.Transport = mad.TransportUC
	}
	if c.has("alternate") {
		q.Alternate = q.Primary
		q.Alternate.RemoteGID = c.gid("alternate_gid", c.dst)
	}
	return q
}

// private is the private data of a request for the RDMA IP CM service.
func (c *cmLine) private() []byte {
	source, destination := c.encap.addr(c.src.host), c.encap.addr(c.dst.host)
	h := mad.IPHeader{IPVersion: 6, SourcePort: 0x8000, SourceWord: source, DestinationWord: destination}
	if source.IsIPv4() {
		h.IPVersion = 4
		h.SourceWord, h.DestinationWord = packet.Addr{Lo: source.Lo & 0xFFFFFFFF}, packet.Addr{Lo: destination.Lo & 0xFFFFFFFF}
	}
	h.Version, h.IPVersion = uint8(c.get("cma", 0)), uint8(c.get("ip", uint64(h.IPVersion)))
	if c.has("mapped") {
		h.SourceWord = source
	}
	if w, ok := c.word("from"); ok {
		if other, known := hosts[w]; known {
			h.SourceWord.Lo = c.encap.addr(other).Lo & 0xFFFFFFFF
		}
	}
	b := make([]byte, mad.IPHeaderSize)
	if err := h.Encode(b); err != nil {
		return nil
	}
	return b
}

// carrier takes the fields of a CM_ line that are those of its packet, and not of the message: a few as they are, others after "mad.".
func (f *fields) carrier() *fields {
	c := &fields{}
	for _, name := range []string{"srcqp", "destqp", "cut", "tap", "way", "ipid", "badicrc"} {
		if w, ok := f.word(name); ok {
			c.names, c.values = append(c.names, name), append(c.values, w)
		}
	}
	if w, ok := f.word("mad.pkey"); ok {
		c.names, c.values = append(c.names, "pkey"), append(c.values, w)
	}
	return c
}
