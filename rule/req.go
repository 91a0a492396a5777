package rule

// RC requester: what it sends.
const (
	RCSEQ001 ID = iota + reqFirst
	RCSEQ002
	RCSEQ003
	RCSEQ004
	RCSEQ005
	RCSEQ007
	RCLEN001
	RCLEN002
	RCLEN003
	RCLEN004
	RCLEN005
	RCLEN006
	RCLEN007
	RCLEN008
	RCPSN001
	RCPSN002
	RCPSN003
	RCPSN004
	RCPSN005
	RCACK001
	RCACK002
	RCACK003
	RCACK004
	RCACK006
	RCACK007
	RCACK008

	rtyFirst
)

var reqRows = [rtyFirst - reqFirst]Row{
	RCSEQ001 - reqFirst: {
		ID: "RC-SEQ-001", Name: "send-order", Severity: Error, Needs: Wire, Ref: "9.7.2†",
		Text:  "A SEND is one Only packet, or First, any number of Middles, and Last. After SEND First or Middle the next new request is SEND Middle or Last.",
		Where: "verifier/rc/message.go",
	},
	RCSEQ002 - reqFirst: {
		ID: "RC-SEQ-002", Name: "write-order", Severity: Error, Needs: Wire, Ref: "9.7.2†",
		Text:  "An RDMA WRITE is one Only packet, or First, any number of Middles, and Last. After WRITE First or Middle the next new request is WRITE Middle or Last.",
		Where: "verifier/rc/message.go",
	},
	RCSEQ003 - reqFirst: {
		ID: "RC-SEQ-003", Name: "message-not-open", Severity: Error, Needs: Wire, Ref: "9.7.2†",
		Text:  "A Middle or Last packet appears only while a message of its kind is open.",
		Where: "verifier/rc/message.go",
	},
	RCSEQ004 - reqFirst: {
		ID: "RC-SEQ-004", Name: "message-interleaved", Severity: Error, Needs: Wire, Ref: "9.4.1†, 9.4.3†",
		Text:  "From First to Last of a SEND or WRITE no other new request of that QP comes in between.",
		Where: "verifier/rc/message.go",
	},
	RCSEQ005 - reqFirst: {
		ID: "RC-SEQ-005", Name: "message-fits-only", Severity: Error, Needs: WireQP, Ref: "9.7.2†",
		Text:  "A message that fits into one PMTU is sent as one Only packet, never as First and Last.",
		Where: "verifier/rc/message.go",
	},
	RCSEQ007 - reqFirst: {
		ID: "RC-SEQ-007", Name: "single-packet-request", Severity: Error, Needs: Wire, Ref: "9.4.4, 9.4.5†",
		Text:  "A READ request or an atomic is always one packet, and carries no payload.",
		Where: "verifier/header/service.go",
	},
	RCLEN001 - reqFirst: {
		ID: "RC-LEN-001", Name: "first-middle-length", Severity: Error, Needs: WireQP, Ref: "C9-92 (length checks)",
		Text:  "First and Middle packets of a SEND or WRITE carry exactly one PMTU of payload.",
		Where: "verifier/rc/message.go",
	},
	RCLEN002 - reqFirst: {
		ID: "RC-LEN-002", Name: "last-length", Severity: Error, Needs: WireQP, Ref: "C9-92",
		Text:  "A Last packet carries 1 byte to one PMTU of payload, never none.",
		Where: "verifier/rc/message.go",
	},
	RCLEN003 - reqFirst: {
		ID: "RC-LEN-003", Name: "only-length", Severity: Error, Needs: WireQP, Ref: "C9-92",
		Text:  "An Only packet carries at most one PMTU of payload.",
		Where: "verifier/rc/message.go",
	},
	RCLEN004 - reqFirst: {
		ID: "RC-LEN-004", Name: "dmalen-limit", Severity: Error, Needs: Wire, Ref: "C9-94",
		Text:  "No message is longer than 2^31 bytes, and no DMALen greater. The NAK Invalid Request that it gets is RC-RSP-028.",
		Where: "verifier/rc/message.go",
	},
	RCLEN005 - reqFirst: {
		ID: "RC-LEN-005", Name: "write-dmalen", Severity: Error, Needs: WireQP, Ref: "9.4.3†",
		Text:  "The payload of all packets of a WRITE adds up to the DMALen of its RETH, in as many packets as that length takes at the PMTU (at least one).",
		Where: "verifier/rc/message.go",
	},
	RCLEN006 - reqFirst: {
		ID: "RC-LEN-006", Name: "reth-misplaced", Severity: Error, Needs: Wire, Ref: "9.3.3",
		Text:  "A RETH is only in WRITE First, WRITE Only (also with immediate), READ request, FLUSH and ATOMIC WRITE.",
		Where: "verifier/rc/header_misplaced.go",
	},
	RCLEN007 - reqFirst: {
		ID: "RC-LEN-007", Name: "immediate-misplaced", Severity: Error, Needs: Wire, Ref: "9.3.6",
		Text:  "Immediate data, 4 bytes, is only in a Last or Only packet with immediate, and follows the RETH where there is one.",
		Where: "verifier/rc/header_misplaced.go",
	},
	RCLEN008 - reqFirst: {
		ID: "RC-LEN-008", Name: "ieth-misplaced", Severity: Error, Needs: Wire, Ref: "9.3.7",
		Text:  "The invalidate header, a 4-byte R_Key, is only in a SEND Last or Only with Invalidate.",
		Where: "verifier/rc/header_misplaced.go",
	},
	RCPSN001 - reqFirst: {
		ID: "RC-PSN-001", Name: "start-psn", Severity: Error, Needs: WireQP, Ref: "9.7.1†, 11.2.4.2",
		Text:  "The first request of a connection carries the start PSN that was agreed for this direction when the connection was made.",
		Where: "verifier/rc/request.go",
	},
	RCPSN002 - reqFirst: {
		ID: "RC-PSN-002", Name: "psn-increment", Severity: Error, Needs: Wire, Ref: "9.7.1†",
		Text:  "Every SEND, WRITE, atomic, FLUSH or ATOMIC WRITE packet takes one PSN.",
		Where: "verifier/rc/duplicate.go",
	},
	RCPSN003 - reqFirst: {
		ID: "RC-PSN-003", Name: "read-psn-range", Severity: Error, Needs: WireQP, Ref: "9.7.1†",
		Text:  "A READ request takes as many PSNs as it will have response packets: DMALen over PMTU rounded up, at least one.",
		Where: "verifier/rc/earlier_psn.go",
	},
	RCPSN004 - reqFirst: {
		ID: "RC-PSN-004", Name: "request-psn-gap", Severity: Error, Needs: Wire, Ref: "9.7.1†",
		Text:  "A new request carries the PSN after the last one. Only a retransmission goes back, and nothing jumps ahead.",
		Where: "verifier/rc/request.go",
	},
	RCPSN005 - reqFirst: {
		ID: "RC-PSN-005", Name: "psn-window", Severity: Error, Needs: Wire, Ref: "9.7.1†",
		Text:  "The latest request is less than 2^23 PSNs ahead of the oldest unacknowledged one; beyond that the responder cannot tell new from duplicate.",
		Where: "verifier/rc/request.go",
	},
	RCACK001 - reqFirst: {
		ID: "RC-ACK-001", Name: "ackreq-on-last", Severity: Warning, Needs: Wire, Ref: "9.7.5†",
		Text:   "The last packet of a message should ask for an acknowledgement.",
		NotWhy: "Should-level, and several channel adapters ask for an acknowledgement only now and then; RC-ACK-002 judges the case that does harm.",
	},
	RCACK002 - reqFirst: {
		ID: "RC-ACK-002", Name: "ackreq-before-silence", Severity: Error, Needs: Wire, Ref: "9.7.5†",
		Text:  "When a requester falls silent, its last outstanding SEND or WRITE has asked for an acknowledgement; else nothing would ever complete it.",
		Where: "verifier/rc/missing_response.go",
	},
	RCACK003 - reqFirst: {
		ID: "RC-ACK-003", Name: "ack-coalescing", Severity: Error, Needs: Wire, Ref: "9.7.5.1.2",
		Text:  "A response acknowledges every SEND and WRITE up to its PSN, but no READ or atomic: only their own last response acknowledges these.",
		Where: "verifier/rc/acknowledge.go",
	},
	RCACK004 - reqFirst: {
		ID: "RC-ACK-004", Name: "nak-implied-ack", Severity: Error, Needs: Wire, Ref: "9.7.5.2†",
		Text:  "A NAK acknowledges every SEND and WRITE before its PSN; a READ or atomic still open before it counts as lost, and the requester goes back to it.",
		Where: "verifier/rc/timer.go",
	},
	RCACK006 - reqFirst: {
		ID: "RC-ACK-006", Name: "ack-from-future", Severity: Warning, Needs: Wire, Ref: "9.7.5†",
		Text:   "A requester ignores a response whose PSN it has not sent yet.",
		NotWhy: "Judged as RC-RSP-006, on the response; what a requester ignores is inside it.",
	},
	RCACK007 - reqFirst: {
		ID: "RC-ACK-007", Name: "ghost-ack", Severity: Info, Needs: Wire, Ref: "9.7.7.2",
		Text:   "A requester ignores an ACK whose PSN is not later than that of the last one, except that one of equal PSN may bring credits.",
		NotWhy: "Judged as CPL-STS-012, on a request that completes by one, and as RC-RTY-010, on what is retransmitted because of one.",
	},
	RCACK008 - reqFirst: {
		ID: "RC-ACK-008", Name: "unsolicited-ack", Severity: Error, Needs: Wire, Ref: "9.7.7.2",
		Text:  "An unsolicited ACK repeats the PSN and MSN of the latest positive one and may fall into a READ in progress; a requester tolerates it and does not retry because of it.",
		Where: "verifier/rc/acknowledge.go",
	},
}
