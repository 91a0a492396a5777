package soft

import (
	"ibwitness/cq"
	"ibwitness/packet"
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
	"xrc-byte-len":              {Text: "counts pad bytes as received on XRC", Rule: "CPL-LEN-001", Service: packet.XRC, Verbs: true, Responder: true, which: op(cq.DoneRecv), completion: change(func(e *cq.Completion) { e.ByteLen += 3 })},
	"xrc-immediate-swapped":     {Text: "delivers immediate data in the wrong byte order on XRC", Rule: "CPL-IMM-001", Service: packet.XRC, Verbs: true, Responder: true, which: with(cq.WithImm), completion: change(swapImm)},
	"xrc-receive-without":       {Text: "completes a receive request on XRC that was never posted", Rule: "CPL-ORD-002", Service: packet.XRC, Verbs: true, Responder: true, which: got, completion: invented},
	"xrc-queue-other-than-sent": {Text: "sends a message on XRC to another shared receive queue than was posted", Rule: "RC-LEN-010", Service: packet.XRC, Verbs: true, match: anySend, spoil: func(p *packet.Packet) { p.XRCSRQ ^= 3 }},
})

func xrc(f packet.Fn) packet.Opcode { return packet.Op(packet.XRC, f) }

// invented puts a completion of a request that was never posted after one.
func invented(_ *HCA, e cq.Completion, p put) {
	p(e)
	e.ID += 5000
	p(e)
}
