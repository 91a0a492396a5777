package rule

// Events: legal, and what an operator wants counted. They share the numbering of the rules, and come after them.
const (
	EvRetransmission ID = iota + eventFirst
	EvDuplicate
	EvTimeout
	EvSeqNAK
	EvRNRNAK
	EvNAKInvalidRequest
	EvNAKRemoteAccess
	EvNAKRemoteOperational
	EvOutOfOrder
	EvDuplicateResponse
	EvCNP
	EvCE
	EvReconnect
	EvConnect
	EvDisconnect
	EvReject
	EvUnanswered
	EvTrimmed

	numRows
)

var eventRows = [numRows - eventFirst]Row{
	EvRetransmission - eventFirst: {
		ID: "EV-RETRANSMISSION", Name: "retransmission", Severity: Info, Needs: Wire, Ref: "9.7.6",
		Text:  "The requester retransmitted a request packet.",
		Where: "verifier/rc/request.go",
	},
	EvDuplicate - eventFirst: {
		ID: "EV-DUPLICATE", Name: "duplicate-request", Severity: Info, Needs: Wire, Ref: "9.7.1†",
		Text:  "A request packet that the responder had already accepted reached it again.",
		Where: "verifier/rc/responder.go",
	},
	EvTimeout - eventFirst: {
		ID: "EV-TIMEOUT", Name: "timeout", Severity: Info, Needs: Wire, Ref: "9.7.6.1.3",
		Text:  "The requester went back to an earlier PSN although no NAK and no missing READ response told it to: its transport timer ran out.",
		Where: "verifier/rc/retransmission.go",
	},
	EvSeqNAK - eventFirst: {
		ID: "EV-SEQ-NAK", Name: "sequence-nak", Severity: Info, Needs: Wire, Ref: "9.7.5.2†",
		Text:  "The responder reported a PSN sequence error: request packets were lost or overtaken on the way to it.",
		Where: "verifier/rc/nak.go",
	},
	EvRNRNAK - eventFirst: {
		ID: "EV-RNR-NAK", Name: "rnr-nak", Severity: Info, Needs: Wire, Ref: "9.7.5.2.8",
		Text:  "The responder was not ready, as a rule for lack of a posted receive, and asked the requester to come back later.",
		Where: "verifier/rc/nak.go",
	},
	EvNAKInvalidRequest - eventFirst: {
		ID: "EV-NAK-INVALID-REQUEST", Name: "invalid-request-nak", Severity: Info, Needs: Wire, Ref: "9.7.5.2.3†",
		Text:  "The responder refused a request as invalid (opcode, length, alignment, operation not enabled, too many READs or atomics). The connection is over.",
		Where: "verifier/rc/nak.go",
	},
	EvNAKRemoteAccess - eventFirst: {
		ID: "EV-NAK-REMOTE-ACCESS", Name: "remote-access-nak", Severity: Info, Needs: Wire, Ref: "9.7.5.2.4†",
		Text:  "The responder refused access to its memory (R_Key, range or rights). The connection is over.",
		Where: "verifier/rc/nak.go",
	},
	EvNAKRemoteOperational - eventFirst: {
		ID: "EV-NAK-REMOTE-OPERATIONAL", Name: "remote-operational-nak", Severity: Info, Needs: Wire, Ref: "9.7.5.2.5†",
		Text:  "The responder could not complete a request because of a fault of its own. The connection is over.",
		Where: "verifier/rc/nak.go",
	},
	EvOutOfOrder - eventFirst: {
		ID: "EV-OUT-OF-ORDER", Name: "out-of-order", Severity: Info, Needs: Wire, Ref: "9.7.1†",
		Text:  "A packet came after packets with later PSNs, and is no retransmission.",
		Where: "verifier/uc/uc.go",
	},
	EvDuplicateResponse - eventFirst: {
		ID: "EV-DUPLICATE-RESPONSE", Name: "duplicate-response", Severity: Info, Needs: Wire, Ref: "9.7.7.2",
		Text:  "An ACK or a response repeated what had already been acknowledged (a ghost ACK, a credit update, an answer to a duplicate).",
		Where: "verifier/rc/nak.go",
	},
	EvCNP - eventFirst: {
		ID: "EV-CNP", Name: "cnp", Severity: Info, Needs: Wire, Ref: "A17.9.3",
		Text:  "A congestion notification packet asked a sender to slow down.",
		Where: "verifier/congestion/cnp.go",
	},
	EvCE - eventFirst: {
		ID: "EV-CE", Name: "congestion-experienced", Severity: Info, Needs: Wire, Ref: "A17.9",
		Text:  "The network marked a packet as having met congestion (ECN field 11; on InfiniBand FECN).",
		Where: "verifier/congestion/congestion.go",
	},
	EvReconnect - eventFirst: {
		ID: "EV-RECONNECT", Name: "reconnect", Severity: Info, Needs: Wire, Ref: "9.7.1†, 12.9†",
		Text:  "A pair of QPs was connected again, with another start PSN.",
		Where: "verifier/stream/qp_reuse.go",
	},
	EvConnect - eventFirst: {
		ID: "EV-CONNECT", Name: "connect", Severity: Info, Needs: Wire, Ref: "12.9†",
		Text:  "The communication manager answered a request for a connection (REQ) with a REP.",
		Where: "agent/datagram.go",
	},
	EvDisconnect - eventFirst: {
		ID: "EV-DISCONNECT", Name: "disconnect", Severity: Info, Needs: Wire, Ref: "12.9†",
		Text:  "The communication manager took a connection down.",
		Where: "agent/datagram.go",
	},
	EvReject - eventFirst: {
		ID: "EV-REJECT", Name: "reject", Severity: Info, Needs: Wire, Ref: "12.6†",
		Text:  "The communication manager refused a connection; the reason code is in the finding.",
		Where: "agent/datagram.go",
	},
	EvUnanswered - eventFirst: {
		ID: "EV-UNANSWERED", Name: "unanswered-request", Severity: Info, Needs: Wire, Ref: "9.7.5†",
		Text:  "A request that must be answered was not, while the capture went on.",
		Where: "verifier/rc/missing_response.go",
	},
	EvTrimmed - eventFirst: {
		ID: "EV-TRIMMED", Name: "trimmed", Severity: Info, Needs: Wire, Ref: "vendor",
		Text:  "A switch cut a packet short in place of dropping it, and gave it another DSCP: its lengths are those that it had.",
		Where: "verifier/header/trimmed.go",
	},
}
