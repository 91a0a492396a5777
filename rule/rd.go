package rule

// RD transport.
const (
	RDRDD001 ID = iota + rdFirst
	RDOPC001
	RDHDR001
	RDHDR002
	RDHDR003
	RDEEC001
	RDEEC002
	RDEEC003
	RDRSY001
	RDQKEY001
	RDNAK001
	RDATM001

	lnkFirst
)

var rdRows = [lnkFirst - rdFirst]Row{
	RDRDD001 - rdFirst: {
		ID: "RD-RDD-001", Name: "rd-domain", Severity: Error, Needs: WireCQE, Ref: "10.2†",
		Text:   "A queue pair and the end-to-end context that it is reached by have the same reliable datagram domain.",
		NotWhy: "The domain is on no wire, and verbs events know no end-to-end contexts: no current interface has any.",
	},
	RDOPC001 - rdFirst: {
		ID: "RD-OPC-001", Name: "rd-opcode", Severity: Error, Needs: Wire, Ref: "Table 38",
		Text:  "The opcodes of RD are 0x40 to 0x55, and 0x5C for FLUSH; the others from 0x56 to 0x5F are reserved.",
		Where: "verifier/header/format.go",
	},
	RDHDR001 - rdFirst: {
		ID: "RD-HDR-001", Name: "rd-rdeth", Severity: Error, Needs: Wire, Ref: "9.2",
		Text:  "The RDETH, a reserved byte of 0 and the end-to-end context of the receiver, follows the BTH in every packet of RD, requests and responses.",
		Where: "verifier/header/format.go",
	},
	RDHDR002 - rdFirst: {
		ID: "RD-HDR-002", Name: "rd-deth", Severity: Error, Needs: Wire, Ref: "9.2, Table 38",
		Text:  "A request on RD has a DETH after its RDETH, a response has none.",
		Where: "verifier/header/format.go",
	},
	RDHDR003 - rdFirst: {
		ID: "RD-HDR-003", Name: "rd-message-queues", Severity: Error, Needs: Wire, Ref: "9.2",
		Text:  "All packets of an RD message come from one source QP with one Q_Key, and go to one QP.",
		Where: "verifier/rd/request.go",
	},
	RDEEC001 - rdFirst: {
		ID: "RD-EEC-001", Name: "rd-psn", Severity: Error, Needs: Wire, Ref: "9.7†",
		Text:  "PSNs are counted by end-to-end context, whichever QPs the messages come from: each request takes the next one, and a response has that of a request.",
		Where: "verifier/rd/request.go",
	},
	RDEEC002 - rdFirst: {
		// An error once a public source confirms it; a warning until then.
		ID: "RD-EEC-002", Name: "rd-outstanding", Severity: Warning, Needs: Wire, Ref: "9.7.8†",
		Text:  "An end-to-end context has one message outstanding at most: the next begins when the one before is acknowledged.",
		Where: "verifier/rd/request.go",
	},
	RDEEC003 - rdFirst: {
		ID: "RD-EEC-003", Name: "rd-rnr-wait", Severity: Error, Needs: Wire, Ref: "9.7†",
		Text:  "An RNR NAK makes the source QP of the message wait, and no other: that QP begins no message on the end-to-end context before the time is over.",
		Where: "verifier/rd/request.go",
	},
	RDRSY001 - rdFirst: {
		// An error once a public source confirms it; a warning until then.
		ID: "RD-RSY-001", Name: "rd-resync", Severity: Warning, Needs: Wire, Ref: "9.7.8†",
		Text:  "A RESYNC has no payload; it sets the PSN that the responder expects, which answers it with an Acknowledge of its PSN.",
		Where: "verifier/rd/response.go",
	},
	RDQKEY001 - rdFirst: {
		// An error once a public source confirms it; a warning until then.
		ID: "RD-QKEY-001", Name: "rd-qkey", Severity: Warning, Needs: WireQP, Ref: "9.7.5.2.4†",
		Text:  "A request whose Q_Key is not that of its destination QP is refused with NAK Invalid RD Request.",
		Where: "verifier/rd/response.go",
	},
	RDNAK001 - rdFirst: {
		// An error once a public source confirms it; a warning until then.
		ID: "RD-NAK-001", Name: "rd-nak-elsewhere", Severity: Warning, Needs: Wire, Ref: "Table 46",
		Text:  "NAK Invalid RD Request, code 4, is sent only on RD; on RC, RC-RSP-021 says so.",
		Where: "verifier/header/format.go",
	},
	RDATM001 - rdFirst: {
		ID: "RD-ATM-001", Name: "rd-atomic", Severity: Error, Needs: Wire, Ref: "Table 38",
		Text:  "An atomic on RD, 0x53 or 0x54, is answered by an ATOMIC Acknowledge, 0x52, which answers nothing else.",
		Where: "verifier/rd/response.go",
	},
}
