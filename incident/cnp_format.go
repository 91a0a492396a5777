package incident

import (
	"fmt"
	"slices"
	"strings"

	"ibwitness/packet"
	"ibwitness/rule"
)

// malformedCNPs says how each CNP of the capture breaks the format that rule CNG-CNP-003 asks for, where a host sent some; "": not each does, or not
// all alike.
func (t *teller) malformedCNPs(by packet.Addr) string {
	n := t.run.Cover[rule.CNGCNP003].Violated
	if n == 0 || n != t.run.Cover[rule.EvCNP].Exercised {
		return ""
	}
	var first *rule.Finding
	for k := range t.run.Findings {
		f := &t.run.Findings[k]
		if f.Rule != rule.CNGCNP003 || f.Class != rule.Violation {
			continue
		}
		if f.Accused.Addr == by && first == nil {
			first = f
		}
		if first != nil && f.Expected != first.Expected {
			return ""
		}
	}
	if first == nil {
		return ""
	}
	return fmt.Sprintf("frame %d: %s", first.Frame, unlikeZero(first.Actual))
}

// unlikeZero leaves out fields that are 0, as that rule asks for.
func unlikeZero(fields string) string {
	list := strings.Split(fields, ", ")
	clear := slices.Contains(list, noBECN)
	wrong := slices.DeleteFunc(list, func(s string) bool {
		_, reserved, _ := strings.Cut(s, " reserved bytes ")
		return strings.HasSuffix(s, " false") || strings.HasSuffix(s, " 0") || strings.HasSuffix(s, " 0x000000") ||
			reserved != "" && strings.Trim(reserved, "0 ") == ""
	})
	for k := range wrong {
		wrong[k] = strings.Replace(wrong[k], "M true", "MigReq 1", 1)
	}
	if clear {
		wrong = append(wrong, noBECN+" too, which adapters set")
	}
	return strings.Join(wrong, ", ")
}

// noBECN is the field of a CNP that the rule does not ask for, though adapters set it.
const noBECN = "BECN 0"

// mayDropCNPs has CNPs that a sender drops for their format fit, where it does not slow down.
func (t *teller) mayDropCNPs(i *Incident, from packet.Addr) {
	if how := t.malformedCNPs(i.Peer.Addr); how != "" {
		i.FitsWith = slices.Insert(i.FitsWith, 1,
			fmt.Sprintf("CNPs that %v does not take, as each breaks rule CNG-CNP-003 (%s), though the others slow down after such ones", from, how))
		i.Next = append(i.Next, fmt.Sprintf("why %v sends CNPs of that format (adapter, firmware)", i.Peer.Addr))
	}
}
