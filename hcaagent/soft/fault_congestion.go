package soft

import "ibwitness/packet"

var isCNP = func(p *packet.Packet) bool { return p.Opcode == packet.OpCNP }

// Faults of congestion control.
var _ = faults(map[string]*Fault{
	"cnp-missing":   {Text: "sends no CNP for marked packets", Rule: "CNG-CNP-001", Needs: Congested, Responder: true, always: true},
	"cnp-unfounded": {Text: "sends a CNP for a packet that was not marked", Rule: "CNG-CNP-002", Needs: Congested, Responder: true},
	"cnp-psn":       {Text: "sends a CNP with a PSN", Rule: "CNG-CNP-003", Needs: Congested, Responder: true, match: isCNP, spoil: psn(7)},
	"cnp-ackreq":    {Text: "sets AckReq in a CNP", Rule: "CNG-CNP-003", Needs: Congested, Responder: true, match: isCNP, spoil: func(p *packet.Packet) { p.AckReq = true }},
	"cnp-migreq":    {Text: "sets MigReq in a CNP", Rule: "CNG-CNP-003", Needs: Congested, Responder: true, match: isCNP, spoil: func(p *packet.Packet) { p.MigReq = true }},
	"cnp-se":        {Text: "sets SE in a CNP", Rule: "CNG-CNP-003", Needs: Congested, Responder: true, match: isCNP, spoil: func(p *packet.Packet) { p.SE = true }},
	"cnp-reserved":  {Text: "leaves old bytes in the reserved ones of a CNP", Rule: "CNG-CNP-003", Needs: Congested, Responder: true, match: isCNP, spoil: func(p *packet.Packet) { p.Payload = append([]byte{0xA5}, make([]byte, 15)...) }},
	"cnp-pkey":      {Text: "sends a CNP with another P_Key than the marked packets have", Rule: "CNG-CNP-003", Needs: Congested, Responder: true, match: isCNP, spoil: func(p *packet.Packet) { p.PKey = 0x8001 }},
	"cnp-short":     {Text: "sends a CNP without its reserved bytes", Rule: "BTH-018", Needs: Congested, Responder: true, match: isCNP, spoil: resize(0)},
	"cnp-long":      {Text: "sends a CNP with 32 reserved bytes", Rule: "CNG-CNP-004", Needs: Congested, Responder: true, match: isCNP, spoil: resize(32)},
	"cnp-for-cnp":   {Constant: true, Text: "sends a CNP for a CNP that was marked", Rule: "CNG-CNP-005", Needs: MarkedCNPs},
	"cnp-takes-psn": {Text: "counts a CNP as a packet of the queue pair", Rule: "CNG-CNP-006", Needs: MarkedAnswers},
	"cnp-too-often": {Text: "sends CNPs a quarter of its interval apart", Rule: "CNG-CNP-007", Needs: CongestedBurst, Responder: true},
	"cnp-dscp":      {Text: "sends a CNP with another DSCP than it is set to", Rule: "CNG-CNP-008", Needs: Congested, Responder: true, match: isCNP, spoil: func(p *packet.Packet) { p.TClass = 26 << 2 }},
})
