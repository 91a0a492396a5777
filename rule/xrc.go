package rule

// XRC transport.
const (
	XRCSRQ001 ID = iota + xrcFirst
	XRCRNR001
	XRCOPC001
	XRCHDR001
	XRCHDR002
	XRCTGT001
	XRCINI001
	XRCSRQ002
	XRCCM001
	XRCCM002

	rdFirst
)

var xrcRows = [rdFirst - xrcFirst]Row{
	XRCSRQ001 - xrcFirst: {
		// An error once a public source confirms it; a warning until then.
		ID: "XRC-SRQ-001", Name: "xrc-receive-queue", Severity: Warning, Needs: WireCQE, Ref: "A14",
		Text:  "A message on XRC takes a receive request of the shared receive queue that it names, and is refused where there is none of that number in the XRC domain of the target.",
		Where: "cq/xrc.go",
	},
	XRCRNR001 - xrcFirst: {
		ID: "XRC-RNR-001", Name: "xrc-attributes", Severity: Error, Needs: Verbs, Ref: "A14",
		Text:   "The minimum RNR timer is an attribute only of the target, retry counts are those of the initiator.",
		NotWhy: "Judged as QPS-TRN-002 and QPS-TRN-003.",
	},
	XRCOPC001 - xrcFirst: {
		ID: "XRC-OPC-001", Name: "xrc-opcode", Severity: Error, Needs: Wire, Ref: "A14",
		Text:  "The opcodes of XRC are those of RC and 0xA0: 0xA0 to 0xB4, 0xB6 and 0xB7. The others from 0xA0 to 0xBF are reserved.",
		Where: "verifier/header/format.go",
	},
	XRCHDR001 - xrcFirst: {
		ID: "XRC-HDR-001", Name: "xrc-header", Severity: Error, Needs: Wire, Ref: "A14",
		Text:  "A request on XRC has an XRCETH of 4 bytes before its other extension headers, a response has none: no request is 4 bytes too short, no response 4 bytes too long.",
		Where: "verifier/header/format.go",
	},
	XRCHDR002 - xrcFirst: {
		ID: "XRC-HDR-002", Name: "xrc-reserved", Severity: Warning, Needs: Wire, Ref: "A14",
		Text:  "The reserved byte of the XRCETH is sent as 0.",
		Where: "verifier/header/format.go",
	},
	XRCTGT001 - xrcFirst: {
		ID: "XRC-TGT-001", Name: "xrc-target-requests", Severity: Error, Needs: WireQP, Ref: "A14",
		Text:  "The target of an XRC connection sends no request. It answers those of its initiator as a responder of RC does: the rules of family RSP hold for it.",
		Where: "verifier/xrc/xrc.go",
	},
	XRCINI001 - xrcFirst: {
		ID: "XRC-INI-001", Name: "xrc-initiator-responds", Severity: Error, Needs: WireQP, Ref: "A14",
		Text:  "The initiator of an XRC connection answers no request. It sends its own as a requester of RC does: the rules of family REQ hold for it.",
		Where: "verifier/xrc/xrc.go",
	},
	XRCSRQ002 - xrcFirst: {
		// An error once a public source confirms it; a warning until then.
		ID: "XRC-SRQ-002", Name: "xrc-queue-constant", Severity: Warning, Needs: Wire, Ref: "A14",
		Text:  "All packets of a message name one shared receive queue.",
		Where: "verifier/xrc/xrc.go",
	},
	XRCCM001 - xrcFirst: {
		ID: "XRC-CM-001", Name: "xrc-rep", Severity: Error, Needs: Wire, Ref: "A14, 12.7†",
		Text:  "A REQ for XRC asks for transport service 3 with extended type 1. The REP that answers it names the QP of the target, as QP or as end-to-end context, and says that it has a shared receive queue.",
		Where: "verifier/xrc/connect.go",
	},
	XRCCM002 - xrcFirst: {
		ID: "XRC-CM-002", Name: "xrc-req", Severity: Warning, Needs: Wire, Ref: "A14",
		Text:  "A REQ of an XRC initiator says nothing of what a target has no use for, or an initiator does not have: responder resources, retry count, RNR retry count and the SRQ bit are 0.",
		Where: "verifier/xrc/connect.go",
	},
}
