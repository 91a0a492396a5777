package report

import (
	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/rule"
)

// OnlyDamaged returns the accused addresses that only packets with a wrong ICRC have: what was damaged may be the address, so that there is no such host to accuse.
func OnlyDamaged(r *agent.Result) map[packet.Addr]bool {
	damaged := map[packet.Addr]bool{}
	for k := range r.Findings {
		if f := &r.Findings[k]; icrc(f.Rule) && f.Accused.Role != rule.Capture {
			damaged[f.Accused.Addr] = true
		}
	}
	if len(damaged) == 0 {
		return nil
	}
	for k := range r.Findings {
		if f := &r.Findings[k]; !icrc(f.Rule) && f.Class != rule.Event {
			delete(damaged, f.Accused.Addr)
		}
	}
	for k := range r.Connections {
		for _, e := range r.Connections[k].Ends {
			if e.Packets > 0 {
				delete(damaged, e.Addr)
			}
		}
	}
	return damaged
}

// icrc reports whether a rule is on the ICRC.
func icrc(id rule.ID) bool {
	return id == rule.ROCV2019 || id == rule.LNKCRC003 || id == rule.LNKCRC004
}
