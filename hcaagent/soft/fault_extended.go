package soft

import (
	"ibwitness/hcaagent"
	"ibwitness/packet"
)

var (
	isFlush       = fn(packet.Flush)
	isAtomicWrite = fn(packet.AtomicWrite)
	// emptyAnswer matches the response to a FLUSH or ATOMIC WRITE.
	emptyAnswer = func(p *packet.Packet) bool { return readOnly(p) && len(p.Payload) == 0 }
)

// Faults of XRC.
var _ = faults(map[string]*Fault{
	"xrc-reserved-opcode":       {Text: "sends a reserved opcode on XRC", Rule: "XRC-OPC-001", Service: packet.XRC, match: anySend, spoil: become(xrc(0x15))},
	"xrc-header-missing":        {Text: "sends a READ request on XRC without its XRCETH", Rule: "XRC-HDR-001", Service: packet.XRC, match: fn(packet.ReadRequest), spoil: func(p *packet.Packet) { p.Has &^= packet.HasXRCETH; p.FitLengths() }},
	"xrc-header-in-ack":         {Text: "sends an XRCETH in an ACK", Rule: "XRC-HDR-001", Service: packet.XRC, Responder: true, match: isACK, spoil: resize(4)},
	"xrc-reserved-byte":         {Text: "sets the reserved byte of the XRCETH", Rule: "XRC-HDR-002", Service: packet.XRC, match: anySend, spoil: func(p *packet.Packet) { p.XRCRes = 0xFF }},
	"xrc-target-sends":          {Text: "sends a request as the target of an XRC connection", Rule: "XRC-TGT-001", Service: packet.XRC, Responder: true, match: isACK, spoil: become(xrc(packet.SendOnly))},
	"xrc-initiator-answers":     {Text: "sends an ACK as the initiator of an XRC connection", Rule: "XRC-INI-001", Service: packet.XRC, match: anySend, spoil: become(xrc(packet.Acknowledge))},
	"xrc-queue-changes":         {Text: "names another shared receive queue within a message on XRC", Rule: "XRC-SRQ-002", Service: packet.XRC, match: fn(packet.SendMiddle), spoil: func(p *packet.Packet) { p.XRCSRQ++ }},
	"xrc-psn-ahead":             {Text: "skips a PSN on XRC", Rule: "RC-PSN-004", Service: packet.XRC, match: anySend, spoil: psn(1)},
	"xrc-wrong-msn":             {Text: "counts one message too many in an ACK on XRC", Rule: "RC-RSP-013", Service: packet.XRC, Responder: true, match: isACK, spoil: msn(1)},
	"xrc-read-middle-missing":   {Text: "leaves out a packet of the answer to a READ on XRC", Rule: "RC-RES-001", Service: packet.XRC, Responder: true, match: readMiddle, drop: true},
	"xrc-unknown-queue-taken":   {Constant: true, Text: "takes a message on XRC that names a shared receive queue that does not exist", Rule: "XRC-SRQ-001", Service: packet.XRC, Verbs: true, Responder: true, Needs: UnknownQueue},
	"xrc-other-domain":          {Constant: true, Text: "takes a message on XRC that names a shared receive queue of another domain", Rule: "XRC-SRQ-001", Service: packet.XRC, Verbs: true, Responder: true, Needs: ForeignQueue},
	"xrc-rnr-unfounded":         {Text: "sends an RNR NAK on XRC although the shared receive queue has requests", Rule: "RC-RSP-020", Service: packet.XRC, Verbs: true, Responder: true},
	"xrc-receive-twice":         {Text: "completes a receive request on XRC twice", Rule: "CPL-ORD-002", Service: packet.XRC, Verbs: true, Responder: true, which: got, completion: twice},
	"xrc-byte-len":              {Text: "counts pad bytes as received on XRC", Rule: "CPL-LEN-001", Service: packet.XRC, Verbs: true, Responder: true, which: op(hcaagent.DoneRecv), completion: change(func(e *hcaagent.Completion) { e.ByteLen += 3 })},
	"xrc-immediate-swapped":     {Text: "delivers immediate data in the wrong byte order on XRC", Rule: "CPL-IMM-001", Service: packet.XRC, Verbs: true, Responder: true, which: with(hcaagent.WithImm), completion: change(swapImm)},
	"xrc-receive-without":       {Text: "completes a receive request on XRC that was never posted", Rule: "CPL-ORD-002", Service: packet.XRC, Verbs: true, Responder: true, which: got, completion: invented},
	"xrc-queue-other-than-sent": {Text: "sends a message on XRC to another shared receive queue than was posted", Rule: "RC-LEN-010", Service: packet.XRC, Verbs: true, match: anySend, spoil: func(p *packet.Packet) { p.XRCSRQ ^= 3 }},
})

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

func xrc(f packet.Fn) packet.Opcode { return packet.Op(packet.XRC, f) }

// invented puts a completion of a request that was never posted after one.
func invented(_ *HCA, e hcaagent.Completion, p put) {
	p(e)
	e.ID += 5000
	p(e)
}
