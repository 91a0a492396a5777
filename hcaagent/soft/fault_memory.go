package soft

import (
	"slices"

	"ibwitness/packet"
)

// Faults that show in what memory holds.
var _ = faults(map[string]*Fault{
	"write-not-stored":    {Text: "acknowledges a WRITE and does not store it", Rule: "CPL-MEM-001", Verbs: true, Responder: true, Needs: Looks},
	"write-changed":       {Text: "stores a byte of a WRITE wrong", Rule: "CPL-MEM-001", Verbs: true, Responder: true, Needs: Looks},
	"write-visible-late":  {Text: "completes a message before the previous WRITE is in memory", Rule: "RC-RSP-035", Verbs: true, Responder: true, Needs: Looks},
	"read-other-data":     {Text: "answers a READ with other data than memory holds", Rule: "RC-RSP-012", Verbs: true, Responder: true, Needs: Looks, match: loaded(fn(packet.ReadRespOnly, packet.ReadRespFirst)), spoil: damage},
	"atomic-other-result": {Text: "answers an atomic with another number than memory held", Rule: "RC-RSP-011", Verbs: true, Responder: true, Needs: Looks, match: fn(packet.AtomicAck), spoil: func(p *packet.Packet) { p.OrigData++ }},
	"atomic-not-done":     {Text: "answers an atomic and leaves memory as it was", Rule: "RC-RSP-011", Verbs: true, Responder: true, Needs: Looks},
})

// storeWrite puts the data of a WRITE into memory, unless the fault is about that.
func (h *HCA) storeWrite(memory, data []byte) {
	switch {
	case h.fault.is == nil || len(data) < 2:
	case h.breaks("write-not-stored"):
		return
	case h.breaks("write-changed"):
		data = slices.Clone(data)
		data[1] ^= 1
	case h.breaks("write-visible-late"):
		data = slices.Clone(data)
		h.opt.Clock.After(25_000, func() { copy(memory, data) })
		return
	}
	copy(memory, data)
}
