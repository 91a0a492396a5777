package verifier_test

import (
	"fmt"
	"strconv"
	"strings"

	"ibwitness/hcaagent"
	"ibwitness/mad"
	"ibwitness/packet"
)

// attributeNames are the attributes that an attr line may give, by name.
var attributeNames = map[string]struct {
	known hcaagent.Known
	set   func(a *hcaagent.Attr, v uint64)
}{
	"pmtu":      {hcaagent.KnowsPMTU, func(a *hcaagent.Attr, v uint64) { a.PMTU = uint32(v) }},
	"sqpsn":     {hcaagent.KnowsSQPSN, func(a *hcaagent.Attr, v uint64) { a.SQPSN = packet.PSN(v) }},
	"rqpsn":     {hcaagent.KnowsRQPSN, func(a *hcaagent.Attr, v uint64) { a.RQPSN = packet.PSN(v) }},
	"destqpn":   {hcaagent.KnowsDestQPN, func(a *hcaagent.Attr, v uint64) { a.DestQPN = uint32(v) }},
	"timeout":   {hcaagent.KnowsTimeout, func(a *hcaagent.Attr, v uint64) { a.Timeout = uint8(v) }},
	"retry":     {hcaagent.KnowsRetryCnt, func(a *hcaagent.Attr, v uint64) { a.RetryCnt = uint8(v) }},
	"rnr_retry": {hcaagent.KnowsRNRRetry, func(a *hcaagent.Attr, v uint64) { a.RNRRetry = uint8(v) }},
	"min_rnr":   {hcaagent.KnowsMinRNRTimer, func(a *hcaagent.Attr, v uint64) { a.MinRNRTimer = uint8(v) }},
	"rd":        {hcaagent.KnowsMaxRdAtomic, func(a *hcaagent.Attr, v uint64) { a.MaxRdAtomic = uint8(v) }},
	"dest_rd":   {hcaagent.KnowsMaxDestRdAtomic, func(a *hcaagent.Attr, v uint64) { a.MaxDestRdAtomic = uint8(v) }},
	"pkey":      {hcaagent.KnowsPKey, func(a *hcaagent.Attr, v uint64) { a.PKey = uint16(v) }},
	"qkey":      {hcaagent.KnowsQKey, func(a *hcaagent.Attr, v uint64) { a.QKey = uint32(v) }},
	"access":    {hcaagent.KnowsAccess, func(a *hcaagent.Attr, v uint64) { a.Access = hcaagent.Access(v) }},
	"mig":       {hcaagent.KnowsMigState, func(a *hcaagent.Attr, v uint64) { a.MigState = hcaagent.MigState(v) }},
	"tclass":    {hcaagent.KnowsTClass, func(a *hcaagent.Attr, v uint64) { a.TClass = uint8(v) }},
	"ttl":       {hcaagent.KnowsHopLimit, func(a *hcaagent.Attr, v uint64) { a.HopLimit = uint8(v) }},
	"sl":        {hcaagent.KnowsSL, func(a *hcaagent.Attr, v uint64) { a.SL = uint8(v) }},
	"grh":       {hcaagent.KnowsGRH, func(a *hcaagent.Attr, v uint64) { a.GRH = v != 0 }},
	"credits":   {hcaagent.KnowsCredits, func(a *hcaagent.Attr, v uint64) { a.Credits = v != 0 }},
}

var migStates = map[string]string{"migrated": "0", "rearm": "1", "armed": "2"}

// attributes reads an attr line: what an HCA agent says of the QP of a host.
func (s *scenario) attributes(words []string) error {
	if len(words) == 0 {
		return fmt.Errorf("give a host and its attributes")
	}
	e, err := parseEnd(words[0])
	if err != nil {
		return err
	}
	var attr hcaagent.Attr
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		if v, ok := migStates[value]; ok {
			value = v
		}
		a, ok := attributeNames[name]
		n, err := strconv.ParseUint(value, 0, 64)
		if !ok || err != nil {
			return fmt.Errorf("no attribute %q", w)
		}
		attr.Known |= a.known
		a.set(&attr, n)
	}
	s.agent.Attributes(s.encap.addr(e.host), e.qpn, attr)
	return nil
}

// The communication identifiers of the two sides, and the transaction.
const (
	commActive  = 0xA0
	commPassive = 0xB0
	transaction = 77
)

// message builds the management datagram of a CM_ line. The psn of a REQ or REP is where its receiver starts to send.
func (s *scenario) message(name string, src, dst end, f *fields) ([]byte, error) {
	get := func(field string, otherwise uint64) uint64 {
		if n, ok := f.number(field); ok {
			return n
		}
		return otherwise
	}
	psn := func() packet.PSN { return packet.PSN(get("psn", uint64(dst.start))) }
	has := func(field string) bool { return get(field, 0) != 0 }
	local := uint64(0)
	if s.encap.name == "ib" {
		local = 1
	}
	var m mad.Message
	switch name {
	case "CM_REQ":
		q := &mad.REQ{
			Header: mad.CMHeader(mad.AttrREQ, transaction), LocalCommID: commActive, ServiceID: 0x1060001, LocalQPN: src.qpn,
			ResponderResources: uint8(get("dest_rd", 16)), InitiatorDepth: uint8(get("rd", 16)), FlowControl: has("credits"), SRQ: has("srq"),
			StartingPSN: psn(), RetryCount: uint8(get("retry", 7)), PKey: uint16(get("pkey", 0xFFFF)), PathMTU: 1,
			RNRRetryCount: uint8(get("rnr_retry", 7)),
			Primary: mad.Path{
				TClass: uint8(get("tclass", 0)), HopLimit: uint8(get("ttl", 64)), SL: uint8(get("sl", 0)), SubnetLocal: get("local", local) != 0,
				LocalAckTimeout: uint8(get("timeout", 14)), LocalLID: uint16(src.n), RemoteLID: uint16(dst.n),
			},
		}
		for mtu := get("pmtu", 1024); uint64(128)<<q.PathMTU != mtu; q.PathMTU++ {
			if q.PathMTU > 5 {
				return nil, fmt.Errorf("no path MTU %d", mtu)
			}
		}
		if has("uc") {
			q.Transport = mad.TransportUC
		}
		m = q
	case "CM_REP":
		m = &mad.REP{
			Header: mad.CMHeader(mad.AttrREP, transaction), LocalCommID: commPassive, RemoteCommID: commActive, LocalQPN: src.qpn,
			StartingPSN: psn(), ResponderResources: uint8(get("dest_rd", 16)), InitiatorDepth: uint8(get("rd", 16)),
			FlowControl: has("credits"), SRQ: has("srq"), RNRRetryCount: uint8(get("rnr_retry", 7)),
		}
	case "CM_RTU":
		m = &mad.RTU{Header: mad.CMHeader(mad.AttrRTU, transaction), LocalCommID: commActive, RemoteCommID: commPassive}
	case "CM_REJ":
		m = &mad.REJ{
			Header: mad.CMHeader(mad.AttrREJ, transaction), LocalCommID: commPassive, RemoteCommID: commActive, Reason: mad.RejConsumer,
		}
	case "CM_DREQ":
		m = &mad.DREQ{Header: mad.CMHeader(mad.AttrDREQ, transaction+1), LocalCommID: commActive, RemoteCommID: commPassive, RemoteQPN: dst.qpn}
	case "CM_DREP":
		m = &mad.DREP{Header: mad.CMHeader(mad.AttrDREP, transaction+1), LocalCommID: commPassive, RemoteCommID: commActive}
	case "CM_XRC_REQ", "CM_XRC_REP":
		m = xrcMessage(name, src, dst, get, get("local", local), psn())
	default:
		return nil, fmt.Errorf("no message %s: give CM_REQ, CM_REP, CM_RTU, CM_REJ, CM_DREQ or CM_DREP", name)
	}
	if len(f.names) > 0 {
		return nil, fmt.Errorf("%s has no field %s", name, f.names[0])
	}
	b := make([]byte, mad.Size)
	return b, m.Encode(b)
}
