package view

import (
	"slices"
	"strings"
)

// open are the rules under which views still accuse somebody, by what is done to the capture: to be mended, and taken away here.
var open = map[string]string{
	"damage":       "ROC-V2-012 ROC-V2-017 ROC-V2-029 ROC-V2-033 BTH-009 BTH-013 BTH-016 PKY-004 RC-RSP-003 RC-RES-002 RC-SEQ-002 RC-SEQ-003 RC-PSN-002 UC-ADR-001 UC-MIG-001 UC-PSN-002 UD-QKEY-001 UD-PKY-001 SMP-MTH-003",
	"snap-damaged": "ROC-V2-012 ROC-V2-017 ROC-V2-029 ROC-V2-033 BTH-009 BTH-013 BTH-016 PKY-004 RC-RSP-003 RC-RES-002 RC-SEQ-002 RC-SEQ-003 UC-ADR-001 UC-MIG-001 UC-PSN-002 UD-QKEY-001 UD-PKY-001 SMP-MTH-003",
	"copies":       "SMP-MTH-003",
	"loses":        "RC-RSP-003",
	"jitter":       "RC-RSP-043",
	"one-way":      "MAD-RMP-011 RC-INV-001",
	"coarse":       "RC-RSP-043",
	"interfaces":   "RC-RSP-043 RC-RSP-003",
	"late":         "RC-RSP-003 RC-RSP-013 RC-INV-001",
	"epoch":        "CM-SM-005 CM-SM-011 RC-RSP-003 RC-INV-001",
	"steps":        "CM-SM-011 RC-RSP-003",
	"mirrored":     "RC-PSN-002 SMP-MTH-003",
	"begins":       "RC-SEQ-003",
	"second-tap":   "RC-RSP-003",
}

// expected reports whether an accusation is one that is open.
func (p Plan) expected(k accusation) bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool {
		return slices.Contains(strings.Fields(open[Kinds[s.Kind].Name]), k.rule.String())
	})
}
