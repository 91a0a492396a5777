package rule

// RC requester: when it sends, what it retransmits, and what its peer and its work requests bound it to.
const (
	RCTMO001 ID = iota + rtyFirst
	RCTMO002
	RCTMO003
	RCTMO004
	RCRTY001
	RCRTY002
	RCRTY003
	RCRTY004
	RCRTY005
	RCRTY006
	RCRTY007
	RCRTY008
	RCRTY009
	RCRTY010
	RCRTY011
	RCRNR001
	RCRNR002
	RCRNR003
	RCRNR004
	RCRNR005
	RCRNR006
	RCRDA001
	RCRDA002
	RCRDA003
	RCCRD001
	RCCRD002
	RCCRD003
	RCCRD004
	RCCRD005
	RCCRD006
	RCATM001
	RCATM002
	RCATM003
	RCINV001
	RCRES001
	RCRES002
	RCRES003
	RCRES004
	RCSEQ006
	RCLEN009
	RCLEN010
	RCFEN001
	RCACK005
	RCRES005

	rspFirst
)

var rtyRows = [rspFirst - rtyFirst]Row{
	RCTMO001 - rtyFirst: {
		ID: "RC-TMO-001", Name: "timer-value", Severity: Error, Needs: WireQP, Ref: "C9-139, C9-140, 9.7.6.1.3",
		Text:  "The transport timer is 4.096 us times 2 to the power of the QP's 5-bit timeout attribute; 0 turns it off.",
		Where: "verifier/rc/timer.go",
	},
	RCTMO002 - rtyFirst: {
		ID: "RC-TMO-002", Name: "timeout-early-or-late", Severity: Error, Needs: WireQP, Ref: "C9-140..142, 9.7.6.1.3",
		Text:  "A retransmission without a NAK starts no earlier than one timer value after what it retransmits was last sent or the last progress, and no later than four after the last packet that asked for an ACK. Devices with adaptive retransmission may be earlier.",
		Where: "verifier/rc/timer.go",
	},
	RCTMO003 - rtyFirst: {
		ID: "RC-TMO-003", Name: "timer-restart", Severity: Warning, Needs: WireQP, Ref: "9.7.6.1†",
		Text:  "The timer starts afresh when a response makes progress and more are still expected.",
		Where: "verifier/rc/timer.go",
	},
	RCTMO004 - rtyFirst: {
		ID: "RC-TMO-004", Name: "timeout-ignored", Severity: Error, Needs: WireQP, Ref: "C9-139, C9-140..142, 9.7.6.1.3",
		Text:  "While a request that asked for an answer has none, and retries are left, the requester retransmits within four timer values: it does not fall silent.",
		Where: "verifier/rc/silent.go",
	},
	RCRTY001 - rtyFirst: {
		ID: "RC-RTY-001", Name: "retry-limit", Severity: Error, Needs: WireQP, Ref: "9.9.2.1†",
		Text:  "The same oldest request is retransmitted at most retry_cnt times without progress; then the QP goes to the error state.",
		Where: "verifier/rc/timer.go",
	},
	RCRTY002 - rtyFirst: {
		ID: "RC-RTY-002", Name: "retry-reload", Severity: Warning, Needs: WireQP, Ref: "9.9.2.1†",
		Text:  "The retry counter is full again after every acknowledgement that makes progress.",
		Where: "cq/retry_status.go",
	},
	RCRTY003 - rtyFirst: {
		ID: "RC-RTY-003", Name: "retry-counting", Severity: Warning, Needs: WireQP, Ref: "9.9.2.1†",
		Text:  "Timeouts, sequence NAKs and implied NAKs use up the retry counter; RNR NAKs have a counter of their own.",
		Where: "verifier/rc/timer.go",
	},
	RCRTY004 - rtyFirst: {
		ID: "RC-RTY-004", Name: "retransmission-differs", Severity: Error, Needs: Wire, Ref: "9.7.6",
		Text:  "A retransmission equals the original packet in opcode, headers and payload. Only AckReq, MigReq, the congestion bits and the trimmed RETH of a READ may differ.",
		Where: "verifier/rc/duplicate.go",
	},
	RCRTY005 - rtyFirst: {
		ID: "RC-RTY-005", Name: "nak-resume-late", Severity: Error, Needs: Wire, Ref: "9.7.5.2†",
		Text:  "After a sequence NAK the requester goes on at the NAK's PSN, or at an earlier unacknowledged one, never beyond it.",
		Where: "verifier/rc/retransmission.go",
	},
	RCRTY006 - rtyFirst: {
		ID: "RC-RTY-006", Name: "selective-retransmission", Severity: Warning, Needs: Wire, Ref: "9.7.6",
		Text:  "Once the requester has gone back, it retransmits everything from there in order. Selective repeat is a vendor's extension.",
		Where: "verifier/rc/request.go",
	},
	RCRTY007 - rtyFirst: {
		ID: "RC-RTY-007", Name: "read-retry-trim", Severity: Error, Needs: WireQP, Ref: "9.4.4",
		Text:  "Repeating a partly answered READ, the requester asks for the missing tail: PSN, VA and DMALen move by the packets received, so that each repeated response keeps its PSN and its data; the R_Key stays.",
		Where: "verifier/rc/duplicate.go",
	},
	RCRTY008 - rtyFirst: {
		ID: "RC-RTY-008", Name: "read-retry-range", Severity: Error, Needs: WireQP, Ref: "9.7.6",
		Text:  "A repeated READ starts neither before the oldest unacknowledged PSN nor off a PMTU boundary of the original.",
		Where: "verifier/rc/duplicate.go",
	},
	RCRTY009 - rtyFirst: {
		ID: "RC-RTY-009", Name: "atomic-retry-differs", Severity: Error, Needs: Wire, Ref: "9.7.6",
		Text:  "A repeated atomic equals the original in PSN, VA, R_Key and operands.",
		Where: "verifier/rc/duplicate.go",
	},
	RCRTY010 - rtyFirst: {
		ID: "RC-RTY-010", Name: "retransmission-needless", Severity: Warning, Needs: Wire, Ref: "9.7.6",
		Text:  "A packet that was positively acknowledged is not retransmitted.",
		Where: "verifier/rc/retransmission.go",
	},
	RCRTY011 - rtyFirst: {
		ID: "RC-RTY-011", Name: "request-after-fatal-nak", Severity: Error, Needs: Wire, Ref: "9.9.2†",
		Text:  "After NAK Invalid Request, Remote Access Error or Remote Operational Error the requester neither retries nor sends anything else: its QP is in the error state.",
		Where: "verifier/rc/rnr.go",
	},
	RCRNR001 - rtyFirst: {
		ID: "RC-RNR-001", Name: "rnr-resend-early", Severity: Error, Needs: Wire, Ref: "9.7.5.2.8",
		Text:  "After an RNR NAK the requester waits at least for the time that the NAK names before it retransmits the request.",
		Where: "verifier/rc/rnr.go",
	},
	RCRNR002 - rtyFirst: {
		ID: "RC-RNR-002", Name: "rnr-resend-psn", Severity: Error, Needs: Wire, Ref: "9.7.5.2.8",
		Text:  "After an RNR NAK the requester starts again at the PSN of the NAK.",
		Where: "verifier/rc/rnr.go",
	},
	RCRNR003 - rtyFirst: {
		ID: "RC-RNR-003", Name: "rnr-retry-limit", Severity: Error, Needs: WireQP, Ref: "9.7.5.2.8",
		Text:  "A requester takes at most rnr_retry RNR NAKs in a row (7 means without end); then the QP goes to the error state.",
		Where: "verifier/rc/rnr.go",
	},
	RCRNR004 - rtyFirst: {
		ID: "RC-RNR-004", Name: "rnr-retry-reload", Severity: Warning, Needs: WireQP, Ref: "9.9.2†",
		Text:  "The RNR retry counter is full again after an acknowledgement that makes progress.",
		Where: "cq/retry_status.go",
	},
	RCRNR005 - rtyFirst: {
		ID: "RC-RNR-005", Name: "rnr-wait-request", Severity: Error, Needs: Wire, Ref: "9.7.5.2.8",
		Text:  "While it waits for the RNR timer a requester sends no new request on that QP.",
		Where: "verifier/rc/rnr.go",
	},
	RCRNR006 - rtyFirst: {
		ID: "RC-RNR-006", Name: "rnr-nak-cause", Severity: Warning, Needs: Wire, Ref: "9.7.5.2.8",
		Text:  "An RNR NAK answers a SEND or the last packet of a WRITE with immediate. Some devices also answer READs, atomics or FLUSHes so while their resources are taken.",
		Where: "verifier/rc/rnr_nak.go",
	},
	RCRDA001 - rtyFirst: {
		ID: "RC-RDA-001", Name: "outstanding-reads", Severity: Error, Needs: WireQP, Ref: "9.7.8†",
		Text:  "Open READs, atomics, FLUSHes and ATOMIC WRITEs together never exceed the max_rd_atomic of the requester's QP.",
		Where: "verifier/rc/request.go",
	},
	RCRDA002 - rtyFirst: {
		ID: "RC-RDA-002", Name: "outstanding-reads-peer", Severity: Error, Needs: WireQP, Ref: "12.7.29†",
		Text:  "Open READs and atomics never exceed what the responder set aside for them (max_dest_rd_atomic); it answers more with NAK Invalid Request.",
		Where: "verifier/rc/request.go",
	},
	RCRDA003 - rtyFirst: {
		ID: "RC-RDA-003", Name: "reads-not-allowed", Severity: Error, Needs: WireQP, Ref: "12.7†",
		Text:  "A requester sends no READ or atomic to a peer with max_dest_rd_atomic 0.",
		Where: "verifier/rc/request.go",
	},
	RCCRD001 - rtyFirst: {
		ID: "RC-CRD-001", Name: "credit-limit", Severity: Error, Needs: WireQP, Ref: "9.7.7.2",
		Text:  "While the responder's ACKs carry credits, a requester starts a SEND or a WRITE with immediate only up to message number MSN plus credits.",
		Where: "verifier/rc/request.go",
	},
	RCCRD002 - rtyFirst: {
		ID: "RC-CRD-002", Name: "credit-probe", Severity: Error, Needs: Wire, Ref: "9.7.7.2",
		Text:  "Without credit a requester sends just one packet of the next such message, the first, with AckReq set, and waits for its ACK.",
		Where: "verifier/rc/request.go",
	},
	RCCRD003 - rtyFirst: {
		ID: "RC-CRD-003", Name: "credit-invalid", Severity: Error, Needs: Wire, Ref: "9.7.7.2",
		Text:  "Credit code 31 means no limit. A responder without end-to-end flow control, or with a shared receive queue, always sends it.",
		Where: "verifier/rc/credit.go",
	},
	RCCRD004 - rtyFirst: {
		ID: "RC-CRD-004", Name: "credit-free-requests", Severity: Info, Needs: Wire, Ref: "9.7.7.2",
		Text:   "WRITEs without immediate, READs and atomics need no credit.",
		NotWhy: "A permission: nothing can break it. RC-CRD-001 and -002 do not judge these requests.",
	},
	RCCRD005 - rtyFirst: {
		ID: "RC-CRD-005", Name: "credit-backward", Severity: Warning, Needs: Wire, Ref: "9.7.7.2",
		Text:  "The limit that credits set for message numbers only moves forward: a responder takes none back that it has given, but for what its codes round down.",
		Where: "verifier/rc/credit.go",
	},
	RCCRD006 - rtyFirst: {
		ID: "RC-CRD-006", Name: "credit-not-negotiated", Severity: Warning, Needs: WireQP, Ref: "12.7.26†",
		Text:  "If the connection was made without end-to-end flow control, every AETH carries credit code 31.",
		Where: "verifier/rc/credit.go",
	},
	RCATM001 - rtyFirst: {
		ID: "RC-ATM-001", Name: "atomic-alignment", Severity: Error, Needs: Wire, Ref: "9.4.5†",
		Text:  "The address of an atomic is a multiple of 8.",
		Where: "verifier/rc/atomic.go",
	},
	RCATM002 - rtyFirst: {
		ID: "RC-ATM-002", Name: "fetch-add-compare-field", Severity: Warning, Needs: Wire, Ref: "9.3.4",
		Text:  "A FETCH_ADD carries its operand in the first data field of the AtomicETH; the compare field is sent as 0 and ignored.",
		Where: "verifier/rc/atomic.go",
	},
	RCATM003 - rtyFirst: {
		ID: "RC-ATM-003", Name: "cmp-swap-fields", Severity: Error, Needs: Wire, Ref: "9.3.4",
		Text:  "A CMP_SWAP carries the swap operand first, then the compare operand.",
		Where: "cq/request_headers.go",
	},
	RCINV001 - rtyFirst: {
		ID: "RC-INV-001", Name: "invalidate-rkey", Severity: Warning, Needs: WireQP, Ref: "9.4.1.1†",
		Text:  "A SEND with Invalidate names an R_Key that the peer advertised; using that R_Key again after delivery is an access error.",
		Where: "verifier/rc/request.go",
	},
	RCRES001 - rtyFirst: {
		ID: "RC-RES-001", Name: "read-response-sequence", Severity: Error, Needs: WireQP, Ref: "9.4.4",
		Text:  "A READ is answered by exactly the packets that its length takes, at consecutive PSNs from that of the request: one Only, or First, Middles and Last.",
		Where: "verifier/rc/read_place.go",
	},
	RCRES002 - rtyFirst: {
		ID: "RC-RES-002", Name: "read-response-length", Severity: Error, Needs: WireQP, Ref: "9.4.4",
		Text:  "READ responses First and Middle carry one PMTU, Last 1 byte to one PMTU, Only at most one PMTU; together they carry DMALen bytes.",
		Where: "verifier/rc/read_length.go",
	},
	RCRES003 - rtyFirst: {
		ID: "RC-RES-003", Name: "read-response-lost", Severity: Error, Needs: Wire, Ref: "9.7.5†",
		Text:  "A READ response that is missing or out of order is an implied NAK: the requester retransmits the READ from the first PSN it lacks.",
		Where: "verifier/rc/duplicate.go",
	},
	RCRES004 - rtyFirst: {
		ID: "RC-RES-004", Name: "read-response-syndrome", Severity: Error, Needs: Wire, Ref: "9.7.5†",
		Text:  "The AETH of a READ or atomic response is of type ACK.",
		Where: "verifier/rc/read.go",
	},
	RCSEQ006 - rtyFirst: {
		ID: "RC-SEQ-006", Name: "message-order", Severity: Error, Needs: WireWQE, Ref: "9.5†",
		Text:  "Messages are sent in the order in which their work requests were posted, and none that was not posted.",
		Where: "cq/request_check.go",
	},
	RCLEN009 - rtyFirst: {
		ID: "RC-LEN-009", Name: "write-content", Severity: Error, Needs: WireMem, Ref: "9.4†",
		Text:  "The payload of an RDMA WRITE is the content of its data segments.",
		Where: "cq/request_headers.go",
	},
	RCLEN010 - rtyFirst: {
		ID: "RC-LEN-010", Name: "request-header", Severity: Error, Needs: WireWQE, Ref: "9.4†",
		Text:  "Address, R_Key, length, operands, immediate data and key to invalidate of a request are those of its work request, and so are destination and Q_Key of a datagram.",
		Where: "cq/request_headers.go",
	},
	RCFEN001 - rtyFirst: {
		ID: "RC-FEN-001", Name: "fence", Severity: Error, Needs: WireWQE, Ref: "10.8.3†",
		Text:  "A request with the fence modifier leaves only after all earlier READs and atomics of its queue pair have been answered.",
		Where: "cq/fence.go",
	},
	RCACK005 - rtyFirst: {
		ID: "RC-ACK-005", Name: "completes-acknowledged", Severity: Error, Needs: WireCQE, Ref: "9.7.5†, 10.8.3†",
		Text:   "A work request completes in order, and only after its last packet is acknowledged.",
		NotWhy: "Judged as CPL-ORD-001 and CPL-STS-012.",
	},
	RCRES005 - rtyFirst: {
		// An error once a public source confirms it; a warning until then.
		ID: "RC-RES-005", Name: "bad-response-status", Severity: Warning, Needs: WireCQE, Ref: "9.9.2.4†",
		Text:   "A response that does not fit the oldest outstanding request completes it with BAD_RESP_ERR.",
		NotWhy: "Judged as CPL-STS-008.",
	},
}
