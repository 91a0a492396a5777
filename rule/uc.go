package rule

// UC transport.
const (
	UCOPC001 ID = iota + ucFirst
	UCOPC002
	UCSEQ001
	UCPSN001
	UCPSN002
	UCRSP001
	UCLEN001
	UCLEN002
	UCLEN003
	UCACC002
	UCSE001
	UCMIG001
	UCADR001
	UCCPL001

	udFirst
)

var ucRows = [udFirst - ucFirst]Row{
	UCOPC001 - ucFirst: {
		ID: "UC-OPC-001", Name: "uc-opcode", Severity: Error, Needs: WireQP, Ref: "9.2, Table 38",
		Text:  "A UC QP sends and takes only SENDs and WRITEs, opcodes 0x20 to 0x2B: no READ, atomic, acknowledgement, FLUSH or ATOMIC WRITE.",
		Where: "verifier/service.go",
	},
	UCOPC002 - ucFirst: {
		ID: "UC-OPC-002", Name: "uc-invalidate", Severity: Error, Needs: Wire, Ref: "Table 38",
		Text:  "SEND with Invalidate does not exist on UC; its opcodes 0x36 and 0x37 are reserved.",
		Where: "verifier/service.go",
	},
	UCSEQ001 - ucFirst: {
		ID: "UC-SEQ-001", Name: "uc-message-order", Severity: Error, Needs: Wire, Ref: "9.8†",
		Text:  "A UC message is one Only packet, or First, Middles and Last of one kind; SEND and WRITE packets do not mix.",
		Where: "verifier/rc_message.go",
	},
	UCPSN001 - ucFirst: {
		ID: "UC-PSN-001", Name: "uc-psn-increment", Severity: Error, Needs: WireQP, Ref: "9.8†",
		Text:  "Each UC packet takes the next PSN, beginning with the start PSN of the connection.",
		Where: "verifier/uc.go",
	},
	UCPSN002 - ucFirst: {
		ID: "UC-PSN-002", Name: "uc-retransmission", Severity: Error, Needs: Wire, Ref: "9.8†",
		Text:  "A UC sender never sends a PSN twice within a life of the QP, except when the count wraps.",
		Where: "verifier/uc.go",
	},
	UCRSP001 - ucFirst: {
		ID: "UC-RSP-001", Name: "uc-response", Severity: Error, Needs: Wire, Ref: "9.8†",
		Text:  "A UC receiver never answers: no ACK, no NAK, no READ response.",
		Where: "verifier/service.go",
	},
	UCLEN001 - ucFirst: {
		ID: "UC-LEN-001", Name: "uc-packet-length", Severity: Error, Needs: WireQP, Ref: "9.8†",
		Text:  "UC First and Middle packets carry one PMTU, Last 1 byte to one PMTU, Only at most one PMTU; a receiver drops a message that differs.",
		Where: "verifier/uc.go",
	},
	UCLEN002 - ucFirst: {
		ID: "UC-LEN-002", Name: "uc-write-dmalen", Severity: Error, Needs: Wire, Ref: "9.8†",
		Text:  "The payload of all packets of a UC WRITE adds up to the DMALen of its RETH.",
		Where: "verifier/uc.go",
	},
	UCLEN003 - ucFirst: {
		ID: "UC-LEN-003", Name: "uc-message-fits-only", Severity: Error, Needs: WireQP, Ref: "9.8†",
		Text:  "A UC message that fits into one PMTU is sent as one Only packet.",
		Where: "verifier/uc.go",
	},
	UCACC002 - ucFirst: {
		ID: "UC-ACC-002", Name: "uc-zero-length-rkey", Severity: Info, Needs: Wire, Ref: "9.4†",
		Text:   "The R_Key of a UC WRITE of length 0 is not checked.",
		NotWhy: "A receiver that refuses is silent, as it is when it accepts.",
	},
	UCSE001 - ucFirst: {
		ID: "UC-SE-001", Name: "uc-solicited-event", Severity: Warning, Needs: Wire, Ref: "9.2",
		Text:  "SE is set only in the Last or Only packet of a SEND or of a WRITE with immediate.",
		Where: "verifier/service.go",
	},
	UCMIG001 - ucFirst: {
		ID: "UC-MIG-001", Name: "uc-migreq", Severity: Warning, Needs: WireQP, Ref: "17.2.8",
		Text:  "MigReq and path migration work on UC as they do on RC.",
		Where: "verifier/flow.go",
	},
	UCADR001 - ucFirst: {
		ID: "UC-ADR-001", Name: "uc-peer-address", Severity: Error, Needs: WireQP, Ref: "9.6.1.5",
		Text:  "A UC QP takes packets from its connected peer's address alone, and drops others silently.",
		Where: "verifier/address.go",
	},
	UCCPL001 - ucFirst: {
		ID: "UC-CPL-001", Name: "uc-send-status", Severity: Error, Needs: WireCQE, Ref: "9.8†",
		Text:  "A UC send request completes once its last packet is sent; what the network loses is no error.",
		Where: "cq/status.go",
	},
}
