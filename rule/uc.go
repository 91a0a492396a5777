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
	UCPSN003
	UCPSN004
	UCRWQE001
	UCRWQE002
	UCRWQE003
	UCACC001
	UCCPL002
	UCIMM001

	udFirst
)

var ucRows = [udFirst - ucFirst]Row{
	UCOPC001 - ucFirst: {
		ID: "UC-OPC-001", Name: "uc-opcode", Severity: Error, Needs: WireQP, Ref: "9.2, Table 38",
		Text:  "A UC QP sends and takes only SENDs and WRITEs, opcodes 0x20 to 0x2B: no READ, atomic, acknowledgement, FLUSH or ATOMIC WRITE.",
		Where: "verifier/header/service.go",
	},
	UCOPC002 - ucFirst: {
		ID: "UC-OPC-002", Name: "uc-invalidate", Severity: Error, Needs: Wire, Ref: "Table 38",
		Text:  "SEND with Invalidate does not exist on UC; its opcodes 0x36 and 0x37 are reserved.",
		Where: "verifier/header/service.go",
	},
	UCSEQ001 - ucFirst: {
		ID: "UC-SEQ-001", Name: "uc-message-order", Severity: Error, Needs: Wire, Ref: "9.8†",
		Text:  "A UC message is one Only packet, or First, Middles and Last of one kind; SEND and WRITE packets do not mix.",
		Where: "verifier/uc/uc.go",
	},
	UCPSN001 - ucFirst: {
		ID: "UC-PSN-001", Name: "uc-psn-increment", Severity: Error, Needs: WireQP, Ref: "9.8†",
		Text:  "Each UC packet takes the next PSN, beginning with the start PSN of the connection.",
		Where: "verifier/uc/uc.go",
	},
	UCPSN002 - ucFirst: {
		ID: "UC-PSN-002", Name: "uc-retransmission", Severity: Error, Needs: Wire, Ref: "9.8†",
		Text:  "A UC sender never sends a PSN twice within a life of the QP, except when the count wraps.",
		Where: "verifier/uc/uc.go",
	},
	UCRSP001 - ucFirst: {
		ID: "UC-RSP-001", Name: "uc-response", Severity: Error, Needs: Wire, Ref: "9.8†",
		Text:  "A UC receiver never answers: no ACK, no NAK, no READ response.",
		Where: "verifier/header/service.go",
	},
	UCLEN001 - ucFirst: {
		ID: "UC-LEN-001", Name: "uc-packet-length", Severity: Error, Needs: WireQP, Ref: "9.8†",
		Text:  "UC First and Middle packets carry one PMTU, Last 1 byte to one PMTU, Only at most one PMTU; a receiver drops a message that differs.",
		Where: "verifier/uc/uc.go",
	},
	UCLEN002 - ucFirst: {
		ID: "UC-LEN-002", Name: "uc-write-dmalen", Severity: Error, Needs: Wire, Ref: "9.8†",
		Text:  "The payload of all packets of a UC WRITE adds up to the DMALen of its RETH.",
		Where: "verifier/uc/uc.go",
	},
	UCLEN003 - ucFirst: {
		ID: "UC-LEN-003", Name: "uc-message-fits-only", Severity: Error, Needs: WireQP, Ref: "9.8†",
		Text:  "A UC message that fits into one PMTU is sent as one Only packet.",
		Where: "verifier/uc/uc.go",
	},
	UCACC002 - ucFirst: {
		ID: "UC-ACC-002", Name: "uc-zero-length-rkey", Severity: Info, Needs: Wire, Ref: "9.4†",
		Text:  "The R_Key of a UC WRITE of length 0 is not checked.",
		Where: "cq/unreliable.go",
	},
	UCSE001 - ucFirst: {
		ID: "UC-SE-001", Name: "uc-solicited-event", Severity: Warning, Needs: Wire, Ref: "9.2",
		Text:  "SE is set only in the Last or Only packet of a SEND or of a WRITE with immediate.",
		Where: "verifier/header/service.go",
	},
	UCMIG001 - ucFirst: {
		ID: "UC-MIG-001", Name: "uc-migreq", Severity: Warning, Needs: WireQP, Ref: "17.2.8",
		Text:  "MigReq and path migration work on UC as they do on RC.",
		Where: "verifier/header/flow.go",
	},
	UCADR001 - ucFirst: {
		ID: "UC-ADR-001", Name: "uc-peer-address", Severity: Error, Needs: WireQP, Ref: "9.6.1.5",
		Text:  "A UC QP takes packets only from the address of its connected peer, and drops others silently.",
		Where: "verifier/header/address.go",
	},
	UCCPL001 - ucFirst: {
		ID: "UC-CPL-001", Name: "uc-send-status", Severity: Error, Needs: WireCQE, Ref: "9.8†",
		Text:  "A UC send request completes once its last packet is sent; what the network loses is no error.",
		Where: "cq/send_status.go",
	},
	UCPSN003 - ucFirst: {
		ID: "UC-PSN-003", Name: "uc-gap-completes", Severity: Error, Needs: WireCQE, Ref: "9.8†",
		Text:  "A UC message of which a packet is missing is dropped whole.",
		Where: "cq/unreliable.go",
	},
	UCPSN004 - ucFirst: {
		ID: "UC-PSN-004", Name: "uc-tail-completes", Severity: Error, Needs: WireCQE, Ref: "9.8†",
		Text:  "A UC receiver drops what does not begin with First or Only while no message is open.",
		Where: "cq/unreliable.go",
	},
	UCRWQE001 - ucFirst: {
		ID: "UC-RWQE-001", Name: "uc-receive-late", Severity: Error, Needs: WireCQE, Ref: "9.8†",
		Text:  "A UC message that finds no receive request is dropped: one that is posted later does not take it.",
		Where: "cq/unreliable.go",
	},
	UCRWQE002 - ucFirst: {
		ID: "UC-RWQE-002", Name: "uc-too-long", Severity: Warning, Needs: WireWQE, Ref: "9.8†",
		Text:  "A UC SEND that is longer than the receive request is dropped, and the next message takes the request.",
		Where: "cq/unreliable.go",
	},
	UCRWQE003 - ucFirst: {
		ID: "UC-RWQE-003", Name: "uc-interrupted-completes", Severity: Error, Needs: WireCQE, Ref: "9.8†",
		Text:  "A UC SEND that was interrupted completes no receive request: the next message takes it.",
		Where: "cq/unreliable.go",
	},
	UCACC001 - ucFirst: {
		ID: "UC-ACC-001", Name: "uc-key-access", Severity: Error, Needs: WireMem, Ref: "9.8†",
		Text:  "A UC WRITE to memory that its R_Key does not open is dropped, and so is its immediate data.",
		Where: "cq/unreliable.go",
	},
	UCCPL002 - ucFirst: {
		ID: "UC-CPL-002", Name: "uc-receive-order", Severity: Error, Needs: WireCQE, Ref: "9.8†",
		Text:  "UC messages complete in the order in which their last packets arrive. Their lengths and immediate data are judged by CPL-LEN-001, CPL-LEN-002 and CPL-IMM-001.",
		Where: "cq/unreliable.go",
	},
	UCIMM001 - ucFirst: {
		ID: "UC-IMM-001", Name: "uc-write-immediate", Severity: Error, Needs: WireCQE, Ref: "9.8†",
		Text:   "A UC WRITE with immediate takes one receive request, and completes it after its last packet.",
		NotWhy: "Judged as CPL-OPC-001, CPL-ORD-002 and CPL-STS-014.",
	},
}
