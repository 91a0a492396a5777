package soft

import "ibwitness/packet"

var (
	isFlush       = fn(packet.Flush)
	isAtomicWrite = fn(packet.AtomicWrite)
	// emptyAnswer matches the response to a FLUSH or ATOMIC WRITE.
	emptyAnswer = func(p *packet.Packet) bool { return readOnly(p) && len(p.Payload) == 0 }
)

// Faults of FLUSH and ATOMIC WRITE.
var _ = faults(map[string]*Fault{
	"flush-selectivity":        {Text: "sends a FLUSH with a reserved selectivity", Rule: "FLW-001", Needs: Extended, match: isFlush, spoil: func(p *packet.Packet) { p.FETH |= 2 << 4 }},
	"flush-reserved-bits":      {Text: "sets a reserved bit of the FETH", Rule: "FLW-001", Needs: Extended, match: isFlush, spoil: func(p *packet.Packet) { p.FETH |= 1 << 17 }},
	"flush-answer-payload":     {Text: "answers a FLUSH with payload", Rule: "FLW-002", Needs: ExtendedFlush, Responder: true, match: emptyAnswer, spoil: resize(8)},
	"flush-answered-first":     {Text: "answers a FLUSH with a READ response First", Rule: "FLW-002", Needs: ExtendedFlush, Responder: true, match: emptyAnswer, spoil: become(rc(packet.ReadRespFirst))},
	"flush-becomes-ack":        {Text: "acknowledges a FLUSH instead of answering it", Rule: "FLW-002", Needs: ExtendedFlush, Responder: true, match: emptyAnswer, spoil: become(rc(packet.Acknowledge))},
	"flush-unanswered":         {Text: "does not answer a FLUSH and goes on", Rule: "RC-RSP-007", Needs: ExtendedFlush, Responder: true, match: emptyAnswer, drop: true},
	"atomic-write-length":      {Text: "announces 16 bytes for an ATOMIC WRITE", Rule: "FLW-005", Needs: Extended, match: isAtomicWrite, spoil: func(p *packet.Packet) { p.DMALen = 16 }},
	"atomic-write-short":       {Text: "sends an ATOMIC WRITE of 4 bytes", Rule: "FLW-005", Needs: Extended, match: isAtomicWrite, spoil: resize(4)},
	"atomic-write-misaligned":  {Text: "sends an ATOMIC WRITE to an address that is no multiple of 8", Rule: "FLW-005", Needs: Extended, match: isAtomicWrite, spoil: func(p *packet.Packet) { p.VA += 4 }},
	"atomic-write-answer":      {Text: "answers an ATOMIC WRITE with payload", Rule: "FLW-006", Needs: ExtendedWrite, Responder: true, match: emptyAnswer, spoil: resize(8)},
	"atomic-write-middle":      {Text: "answers an ATOMIC WRITE with a READ response Middle", Rule: "FLW-006", Needs: ExtendedWrite, Responder: true, match: emptyAnswer, spoil: become(rc(packet.ReadRespMiddle))},
	"atomic-write-becomes-ack": {Text: "acknowledges an ATOMIC WRITE instead of answering it", Rule: "FLW-006", Needs: ExtendedWrite, Responder: true, match: emptyAnswer, spoil: become(rc(packet.Acknowledge))},
	"too-many-atomic-writes":   {Constant: true, Text: "has more ATOMIC WRITEs outstanding than its initiator depth", Rule: "FLW-008", Needs: ManyAtomicWrites},
	"atomic-write-unpermitted": {Constant: true, Text: "executes an ATOMIC WRITE that the queue pair does not permit", Rule: "FLW-009", Needs: NoWrites, Verbs: true, Responder: true},
	"atomic-write-not-stored":  {Text: "answers an ATOMIC WRITE and leaves memory as it was", Rule: "CPL-MEM-001", Needs: ExtendedLooks, Verbs: true, Responder: true},
	"atomic-write-other-data":  {Text: "sends other data in an ATOMIC WRITE than the gather list has", Rule: "RC-LEN-009", Needs: Extended, Verbs: true, match: loaded(isAtomicWrite), spoil: damage},
	"flush-other-range":        {Text: "flushes another range than was posted", Rule: "RC-LEN-010", Needs: Extended, Verbs: true, match: isFlush, spoil: func(p *packet.Packet) { p.VA += 64 }},
	"flush-other-placement":    {Text: "flushes for another placement than was posted", Rule: "RC-LEN-010", Needs: Extended, Verbs: true, match: isFlush, spoil: func(p *packet.Packet) { p.FETH ^= 3 }},
	"flush-completes-early":    {Text: "completes a FLUSH before its response", Rule: "CPL-STS-013", Needs: Extended, Verbs: true},
	"retry-atomic-write-data":  {Text: "retransmits an ATOMIC WRITE with other data", Rule: "RC-RTY-004", Needs: ExtendedLost},
	"retry-flush-range":        {Text: "retransmits a FLUSH for another range", Rule: "RC-RTY-004", Needs: ExtendedLost},
})
