package verifier_test

import (
	"fmt"
	"strconv"
	"strings"

	"ibwitness/hcaagent"
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
