package verifier

import (
	"slices"

	"ibwitness/packet"
	"ibwitness/rule"
)

// FastRules are the rules that the fast paths claim to cover: of headers that apply to RC or UC on IPv4, and those of expectations.
func FastRules() (ids []rule.ID) {
	for _, o := range fastOpcodes() {
		for _, h := range headersOf[packet.RoCEv2IPv4][o] {
			ids = append(ids, h.id)
		}
		ids = append(ids, expectations[o].covered...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Taken is how many packets the fast path of RC has taken.
func (v *Verifier) Taken() (n uint64) {
	for _, k := range v.expected {
		n += k
	}
	return n
}
