package verifier_test

import (
	"fmt"
	"strconv"
	"strings"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// attributeNames are the attributes that an attr line may give, by name.
var attributeNames = map[string]struct {
	known qp.Known
	set   func(a *qp.Attr, v uint64)
}{
	"pmtu":      {qp.KnowsPMTU, func(a *qp.Attr, v uint64) { a.PMTU = uint32(v) }},
	"sqpsn":     {qp.KnowsSQPSN, func(a *qp.Attr, v uint64) { a.SQPSN = packet.PSN(v) }},
	"rqpsn":     {qp.KnowsRQPSN, func(a *qp.Attr, v uint64) { a.RQPSN = packet.PSN(v) }},
	"destqpn":   {qp.KnowsDestQPN, func(a *qp.Attr, v uint64) { a.DestQPN = uint32(v) }},
	"timeout":   {qp.KnowsTimeout, func(a *qp.Attr, v uint64) { a.Timeout = uint8(v) }},
	"retry":     {qp.KnowsRetryCnt, func(a *qp.Attr, v uint64) { a.RetryCnt = uint8(v) }},
	"rnr_retry": {qp.KnowsRNRRetry, func(a *qp.Attr, v uint64) { a.RNRRetry = uint8(v) }},
	"min_rnr":   {qp.KnowsMinRNRTimer, func(a *qp.Attr, v uint64) { a.MinRNRTimer = uint8(v) }},
	"rd":        {qp.KnowsMaxRdAtomic, func(a *qp.Attr, v uint64) { a.MaxRdAtomic = uint8(v) }},
	"dest_rd":   {qp.KnowsMaxDestRdAtomic, func(a *qp.Attr, v uint64) { a.MaxDestRdAtomic = uint8(v) }},
	"pkey":      {qp.KnowsPKey, func(a *qp.Attr, v uint64) { a.PKey = uint16(v) }},
	"qkey":      {qp.KnowsQKey, func(a *qp.Attr, v uint64) { a.QKey = uint32(v) }},
	"access":    {qp.KnowsAccess, func(a *qp.Attr, v uint64) { a.Access = wqe.Access(v) }},
	"mig":       {qp.KnowsMigState, func(a *qp.Attr, v uint64) { a.MigState = qp.MigState(v) }},
	"tclass":    {qp.KnowsTClass, func(a *qp.Attr, v uint64) { a.TClass = uint8(v) }},
	"ttl":       {qp.KnowsHopLimit, func(a *qp.Attr, v uint64) { a.HopLimit = uint8(v) }},
	"sl":        {qp.KnowsSL, func(a *qp.Attr, v uint64) { a.SL = uint8(v) }},
	"grh":       {qp.KnowsGRH, func(a *qp.Attr, v uint64) { a.GRH = v != 0 }},
	"credits":   {qp.KnowsCredits, func(a *qp.Attr, v uint64) { a.Credits = v != 0 }},
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
	var attr qp.Attr
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
