package rule

// RC requester.
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
	RCTMO001
	RCTMO002
	RCTMO003
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

var reqRows = [rspFirst - reqFirst]Row{
	RCSEQ001 - reqFirst: {
		ID: "RC-SEQ-001", Name: "send-order", Severity: Error, Needs: Wire, Ref: "9.7.2†",
		Text:  "A SEND is one Only packet, or First, any number of Middles, and Last. After SEND First or Middle the next new request is SEND Middle or Last.",
		Where: "verifier/rc_message.go",
	},
	RCSEQ002 - reqFirst: {
		ID: "RC-SEQ-002", Name: "write-order", Severity: Error, Needs: Wire, Ref: "9.7.2†",
		Text:  "An RDMA WRITE is one Only packet, or First, any number of Middles, and Last. After WRITE First or Middle the next new request is WRITE Middle or Last.",
		Where: "verifier/rc_message.go",
	},
	RCSEQ003 - reqFirst: {
		ID: "RC-SEQ-003", Name: "message-not-open", Severity: Error, Needs: Wire, Ref: "9.7.2†",
		Text:  "A Middle or Last packet appears only while a message of its kind is open.",
		Where: "verifier/rc_message.go",
	},
	RCSEQ004 - reqFirst: {
		ID: "RC-SEQ-004", Name: "message-interleaved", Severity: Error, Needs: Wire, Ref: "9.4.1†, 9.4.3†",
		Text:  "From First to Last of a SEND or WRITE no other new request of that QP comes in between.",
		Where: "verifier/rc_message.go",
	},
	RCSEQ005 - reqFirst: {
		ID: "RC-SEQ-005", Name: "message-fits-only", Severity: Error, Needs: WireQP, Ref: "9.7.2†",
		Text:  "A message that fits into one PMTU is sent as one Only packet, never as First and Last.",
		Where: "verifier/rc_message.go",
	},
	RCSEQ007 - reqFirst: {
		ID: "RC-SEQ-007", Name: "single-packet-request", Severity: Error, Needs: Wire, Ref: "9.4.4, 9.4.5†",
		Text:  "A READ request or an atomic is always one packet, and carries no payload.",
		Where: "verifier/service.go",
	},
	RCLEN001 - reqFirst: {
		ID: "RC-LEN-001", Name: "first-middle-length", Severity: Error, Needs: WireQP, Ref: "C9-92 (length checks)",
		Text:  "First and Middle packets of a SEND or WRITE carry exactly one PMTU of payload.",
		Where: "verifier/rc_message.go",
	},
	RCLEN002 - reqFirst: {
		ID: "RC-LEN-002", Name: "last-length", Severity: Error, Needs: WireQP, Ref: "C9-92",
		Text:  "A Last packet carries 1 byte to one PMTU of payload, never none.",
		Where: "verifier/rc_message.go",
	},
	RCLEN003 - reqFirst: {
		ID: "RC-LEN-003", Name: "only-length", Severity: Error, Needs: WireQP, Ref: "C9-92",
		Text:  "An Only packet carries at most one PMTU of payload.",
		Where: "verifier/rc_message.go",
	},
	RCLEN004 - reqFirst: {
		ID: "RC-LEN-004", Name: "dmalen-limit", Severity: Error, Needs: Wire, Ref: "C9-94",
		Text:  "No message is longer than 2^31 bytes. A responder answers a greater DMALen with NAK Invalid Request.",
		Where: "verifier/rc_message.go",
	},
	RCLEN005 - reqFirst: {
		ID: "RC-LEN-005", Name: "write-dmalen", Severity: Error, Needs: WireQP, Ref: "9.4.3†",
		Text:  "The payload of all packets of a WRITE adds up to the DMALen of its RETH, in as many packets as that length takes at the PMTU (at least one).",
		Where: "verifier/rc_message.go",
	},
	RCLEN006 - reqFirst: {
		ID: "RC-LEN-006", Name: "reth-misplaced", Severity: Error, Needs: Wire, Ref: "9.3.3",
		Text:   "RETH stands only in WRITE First, WRITE Only (also with immediate), READ request, FLUSH and ATOMIC WRITE.",
		NotWhy: "The opcode alone says which headers follow: bytes out of place change the length, and break RC-LEN-001 to -005 or RC-SEQ-007.",
	},
	RCLEN007 - reqFirst: {
		ID: "RC-LEN-007", Name: "immediate-misplaced", Severity: Error, Needs: Wire, Ref: "9.3.6",
		Text:   "Immediate data, 4 bytes, stands only in a Last or Only packet with immediate, and behind the RETH where there is one.",
		NotWhy: "The opcode alone says which headers follow: bytes out of place change the length, and break RC-LEN-001 to -005.",
	},
	RCLEN008 - reqFirst: {
		ID: "RC-LEN-008", Name: "ieth-misplaced", Severity: Error, Needs: Wire, Ref: "9.3.7",
		Text:   "The invalidate header, a 4-byte R_Key, stands only in a SEND Last or Only with Invalidate.",
		NotWhy: "The opcode alone says which headers follow: bytes out of place change the length, and break RC-LEN-002 or -003.",
	},
	RCPSN001 - reqFirst: {
		ID: "RC-PSN-001", Name: "start-psn", Severity: Error, Needs: WireQP, Ref: "9.7.1†, 11.2.4.2",
		Text:  "The first request of a connection carries the start PSN that was agreed for this direction when the connection was made.",
		Where: "verifier/rc_request.go",
	},
	RCPSN002 - reqFirst: {
		ID: "RC-PSN-002", Name: "psn-increment", Severity: Error, Needs: Wire, Ref: "9.7.1†",
		Text:  "Every SEND, WRITE, atomic, FLUSH or ATOMIC WRITE packet takes one PSN.",
		Where: "verifier/rc_again.go",
	},
	RCPSN003 - reqFirst: {
		ID: "RC-PSN-003", Name: "read-psn-range", Severity: Error, Needs: WireQP, Ref: "9.7.1†",
		Text:  "A READ request takes as many PSNs as it will have response packets: DMALen over PMTU rounded up, at least one.",
		Where: "verifier/rc_retry.go",
	},
	RCPSN004 - reqFirst: {
		ID: "RC-PSN-004", Name: "request-psn-gap", Severity: Error, Needs: Wire, Ref: "9.7.1†",
		Text:  "A new request carries the PSN behind the last one. Only a retransmission goes back, and nothing jumps ahead.",
		Where: "verifier/rc_request.go",
	},
	RCPSN005 - reqFirst: {
		ID: "RC-PSN-005", Name: "psn-window", Severity: Error, Needs: Wire, Ref: "9.7.1†",
		Text:  "The youngest request is less than 2^23 PSNs ahead of the oldest unacknowledged one; beyond that the responder cannot tell new from duplicate.",
		Where: "verifier/rc_request.go",
	},
	RCACK001 - reqFirst: {
		ID: "RC-ACK-001", Name: "ackreq-on-last", Severity: Warning, Needs: Wire, Ref: "9.7.5†",
		Text:   "The last packet of a message should ask for an acknowledgement.",
		NotWhy: "Should-level, and several channel adapters ask for an acknowledgement only now and then; RC-ACK-002 judges the case that does harm.",
	},
	RCACK002 - reqFirst: {
		ID: "RC-ACK-002", Name: "ackreq-before-silence", Severity: Error, Needs: Wire, Ref: "9.7.5†",
		Text:  "When a requester falls silent, its last outstanding SEND or WRITE has asked for an acknowledgement; else nothing would ever complete it.",
		Where: "verifier/rc_owed.go",
	},
	RCACK003 - reqFirst: {
		ID: "RC-ACK-003", Name: "ack-coalescing", Severity: Error, Needs: Wire, Ref: "9.7.5.1.2",
		Text:  "A response acknowledges every SEND and WRITE up to its PSN, but no READ or atomic: these are acknowledged by their own last response alone.",
		Where: "verifier/rc_ack.go",
	},
	RCACK004 - reqFirst: {
		ID: "RC-ACK-004", Name: "nak-implied-ack", Severity: Error, Needs: Wire, Ref: "9.7.5.2†",
		Text:   "A NAK acknowledges every SEND and WRITE before its PSN; a READ or atomic still open before it counts as lost, and the requester goes back to it.",
		NotWhy: "What a NAK acknowledges is inside the requester; one that sends it again all the same shows as RC-RTY-010.",
	},
	RCACK006 - reqFirst: {
		ID: "RC-ACK-006", Name: "ack-from-future", Severity: Warning, Needs: Wire, Ref: "9.7.5†",
		Text:   "A requester ignores a response whose PSN it has not sent yet.",
		NotWhy: "What a requester ignores is inside it; the response itself is judged by RC-RSP-006.",
	},
	RCACK007 - reqFirst: {
		ID: "RC-ACK-007", Name: "ghost-ack", Severity: Info, Needs: Wire, Ref: "9.7.7.2",
		Text:   "A requester ignores an ACK that is no younger than the last one, except that one of equal PSN may bring credits.",
		NotWhy: "What a requester ignores is inside it.",
	},
	RCACK008 - reqFirst: {
		ID: "RC-ACK-008", Name: "unsolicited-ack", Severity: Error, Needs: Wire, Ref: "9.7.7.2",
		Text:  "An unsolicited ACK repeats the PSN and MSN of the latest positive one and may fall into a READ in progress; a requester bears it and does not retry because of it.",
		Where: "verifier/rc_ack.go",
	},
	RCTMO001 - reqFirst: {
		ID: "RC-TMO-001", Name: "timer-value", Severity: Error, Needs: WireQP, Ref: "C9-139, C9-140, 9.7.6.1.3",
		Text:   "The transport timer is 4.096 us times 2 to the power of the QP's 5-bit timeout attribute; 0 turns it off.",
		NotWhy: "A definition: RC-TMO-002 judges by it.",
	},
	RCTMO002 - reqFirst: {
		ID: "RC-TMO-002", Name: "timeout-early-or-late", Severity: Error, Needs: WireQP, Ref: "C9-140..142, 9.7.6.1.3",
		Text:  "A retransmission without a NAK starts no earlier than one timer value after the last packet that asked for an ACK or the last progress, and no later than four. Devices with adaptive retransmission may be earlier.",
		Where: "verifier/rc_restart.go",
	},
	RCTMO003 - reqFirst: {
		ID: "RC-TMO-003", Name: "timer-restart", Severity: Warning, Needs: WireQP, Ref: "9.7.6.1†",
		Text:   "The timer starts afresh when a response makes progress and more are still expected.",
		NotWhy: "The timer is inside the requester; a retransmission that is too early shows as RC-TMO-002.",
	},
	RCRTY001 - reqFirst: {
		ID: "RC-RTY-001", Name: "retry-limit", Severity: Error, Needs: WireQP, Ref: "9.9.2.1†",
		Text:  "The same oldest request is sent again at most retry_cnt times without progress; then the QP goes to the error state.",
		Where: "verifier/rc_restart.go",
	},
	RCRTY002 - reqFirst: {
		ID: "RC-RTY-002", Name: "retry-reload", Severity: Warning, Needs: WireQP, Ref: "9.9.2.1†",
		Text:   "The retry counter is full again after every acknowledgement that makes progress.",
		NotWhy: "The counter is inside the requester; RC-RTY-001 counts what the wire shows, anew after progress.",
	},
	RCRTY003 - reqFirst: {
		ID: "RC-RTY-003", Name: "retry-counting", Severity: Warning, Needs: WireQP, Ref: "9.9.2.1†",
		Text:   "Timeouts, sequence NAKs and implied NAKs use up the retry counter; RNR NAKs have a counter of their own.",
		NotWhy: "The counter is inside the requester; RC-RTY-001 counts the retransmissions that no NAK asked for.",
	},
	RCRTY004 - reqFirst: {
		ID: "RC-RTY-004", Name: "retransmission-differs", Severity: Error, Needs: Wire, Ref: "9.7.6",
		Text:  "A packet sent again equals the one sent first in opcode, headers and payload. Only AckReq, MigReq, the congestion bits and the trimmed RETH of a READ may differ.",
		Where: "verifier/rc_again.go",
	},
	RCRTY005 - reqFirst: {
		ID: "RC-RTY-005", Name: "nak-resume-late", Severity: Error, Needs: Wire, Ref: "9.7.5.2†",
		Text:  "After a sequence NAK the requester goes on at the NAK's PSN, or at an earlier unacknowledged one, never beyond it.",
		Where: "verifier/rc_restart.go",
	},
	RCRTY006 - reqFirst: {
		ID: "RC-RTY-006", Name: "selective-retransmission", Severity: Warning, Needs: Wire, Ref: "9.7.6",
		Text:  "Once the requester has gone back, it sends everything from there again and in order. Selective repeat is a vendor's extension.",
		Where: "verifier/rc_request.go",
	},
	RCRTY007 - reqFirst: {
		ID: "RC-RTY-007", Name: "read-retry-trim", Severity: Error, Needs: WireQP, Ref: "9.4.4",
		Text:  "Repeating a partly answered READ, the requester asks for the missing tail: PSN, VA and DMALen move by the packets received, so that each repeated response keeps its PSN and its data; the R_Key stays.",
		Where: "verifier/rc_again.go",
	},
	RCRTY008 - reqFirst: {
		ID: "RC-RTY-008", Name: "read-retry-range", Severity: Error, Needs: WireQP, Ref: "9.7.6",
		Text:  "A repeated READ starts neither before the oldest unacknowledged PSN nor off a PMTU boundary of the original.",
		Where: "verifier/rc_again.go",
	},
	RCRTY009 - reqFirst: {
		ID: "RC-RTY-009", Name: "atomic-retry-differs", Severity: Error, Needs: Wire, Ref: "9.7.6",
		Text:  "A repeated atomic equals the original in PSN, VA, R_Key and operands.",
		Where: "verifier/rc_again.go",
	},
	RCRTY010 - reqFirst: {
		ID: "RC-RTY-010", Name: "retransmission-needless", Severity: Warning, Needs: Wire, Ref: "9.7.6",
		Text:  "A packet that was positively acknowledged is not sent again.",
		Where: "verifier/rc_restart.go",
	},
	RCRTY011 - reqFirst: {
		ID: "RC-RTY-011", Name: "request-after-fatal-nak", Severity: Error, Needs: Wire, Ref: "9.9.2†",
		Text:  "After NAK Invalid Request, Remote Access Error or Remote Operational Error the requester neither retries nor sends anything else: its QP is in the error state.",
		Where: "verifier/rc_rnr.go",
	},
	RCRNR001 - reqFirst: {
		ID: "RC-RNR-001", Name: "rnr-resend-early", Severity: Error, Needs: Wire, Ref: "9.7.5.2.8",
		Text:  "After an RNR NAK the requester waits at least for the time that the NAK names before it sends the request again.",
		Where: "verifier/rc_rnr.go",
	},
	RCRNR002 - reqFirst: {
		ID: "RC-RNR-002", Name: "rnr-resend-psn", Severity: Error, Needs: Wire, Ref: "9.7.5.2.8",
		Text:  "After an RNR NAK the requester starts again at the PSN of the NAK.",
		Where: "verifier/rc_rnr.go",
	},
	RCRNR003 - reqFirst: {
		ID: "RC-RNR-003", Name: "rnr-retry-limit", Severity: Error, Needs: WireQP, Ref: "9.7.5.2.8",
		Text:  "A requester takes at most rnr_retry RNR NAKs in a row (7 means without end); then the QP goes to the error state.",
		Where: "verifier/rc_rnr.go",
	},
	RCRNR004 - reqFirst: {
		ID: "RC-RNR-004", Name: "rnr-retry-reload", Severity: Warning, Needs: WireQP, Ref: "9.9.2†",
		Text:   "The RNR retry counter is full again after an acknowledgement that makes progress.",
		NotWhy: "The counter is inside the requester; RC-RNR-003 counts what the wire shows, anew after progress.",
	},
	RCRNR005 - reqFirst: {
		ID: "RC-RNR-005", Name: "rnr-wait-request", Severity: Error, Needs: Wire, Ref: "9.7.5.2.8",
		Text:  "While it waits for the RNR timer a requester sends no new request on that QP.",
		Where: "verifier/rc_rnr.go",
	},
	RCRNR006 - reqFirst: {
		ID: "RC-RNR-006", Name: "rnr-nak-cause", Severity: Warning, Needs: Wire, Ref: "9.7.5.2.8",
		Text:  "An RNR NAK answers a SEND or the last packet of a WRITE with immediate. Some devices also answer READs, atomics or FLUSHes so while their resources are taken.",
		Where: "verifier/rc_nak.go",
	},
	RCRDA001 - reqFirst: {
		ID: "RC-RDA-001", Name: "outstanding-reads", Severity: Error, Needs: WireQP, Ref: "9.7.8†",
		Text:  "Open READs, atomics, FLUSHes and ATOMIC WRITEs together never exceed the max_rd_atomic of the requester's QP.",
		Where: "verifier/rc_request.go",
	},
	RCRDA002 - reqFirst: {
		ID: "RC-RDA-002", Name: "outstanding-reads-peer", Severity: Error, Needs: WireQP, Ref: "12.7.29†",
		Text:  "Open READs and atomics never exceed what the responder set aside for them (max_dest_rd_atomic); it answers more with NAK Invalid Request.",
		Where: "verifier/rc_request.go",
	},
	RCRDA003 - reqFirst: {
		ID: "RC-RDA-003", Name: "reads-not-allowed", Severity: Error, Needs: WireQP, Ref: "12.7†",
		Text:  "A requester sends no READ or atomic to a peer with max_dest_rd_atomic 0.",
		Where: "verifier/rc_request.go",
	},
	RCCRD001 - reqFirst: {
		ID: "RC-CRD-001", Name: "credit-limit", Severity: Error, Needs: WireQP, Ref: "9.7.7.2",
		Text:  "While the responder's ACKs carry credits, a requester starts a SEND or a WRITE with immediate only up to message number MSN plus credits.",
		Where: "verifier/rc_request.go",
	},
	RCCRD002 - reqFirst: {
		ID: "RC-CRD-002", Name: "credit-probe", Severity: Error, Needs: Wire, Ref: "9.7.7.2",
		Text:  "Without credit a requester sends just one packet of the next such message, the first, with AckReq set, and waits for its ACK.",
		Where: "verifier/rc_request.go",
	},
	RCCRD003 - reqFirst: {
		ID: "RC-CRD-003", Name: "credit-invalid", Severity: Error, Needs: Wire, Ref: "9.7.7.2",
		Text:   "Credit code 31 means no limit. A responder without end-to-end flow control, or with a shared receive queue, always sends it.",
		NotWhy: "Whether a receive queue is shared is not on the wire, but in CM: RC-CRD-006 judges what was negotiated.",
	},
	RCCRD004 - reqFirst: {
		ID: "RC-CRD-004", Name: "credit-free-requests", Severity: Info, Needs: Wire, Ref: "9.7.7.2",
		Text:   "WRITEs without immediate, READs and atomics need no credit.",
		NotWhy: "A permission: nothing can break it. RC-CRD-001 and -002 leave these requests alone.",
	},
	RCCRD005 - reqFirst: {
		ID: "RC-CRD-005", Name: "credit-backward", Severity: Warning, Needs: Wire, Ref: "9.7.7.2",
		Text:   "The limit that credits set for message numbers only moves forward.",
		NotWhy: "The limit is inside the requester, which keeps the greatest that it was given: credit codes round down, so a later response may give less (seen from real adapters).",
	},
	RCCRD006 - reqFirst: {
		ID: "RC-CRD-006", Name: "credit-not-negotiated", Severity: Warning, Needs: WireQP, Ref: "12.7.26†",
		Text:  "If the connection was made without end-to-end flow control, every AETH carries credit code 31.",
		Where: "verifier/rc_credit.go",
	},
	RCATM001 - reqFirst: {
		ID: "RC-ATM-001", Name: "atomic-alignment", Severity: Error, Needs: Wire, Ref: "9.4.5†",
		Text:  "The address of an atomic is a multiple of 8.",
		Where: "verifier/rc_message.go",
	},
	RCATM002 - reqFirst: {
		ID: "RC-ATM-002", Name: "fetch-add-compare-field", Severity: Warning, Needs: Wire, Ref: "9.3.4",
		Text:  "A FETCH_ADD carries its operand in the first data field of the AtomicETH; the compare field is sent as 0 and ignored.",
		Where: "verifier/rc_message.go",
	},
	RCATM003 - reqFirst: {
		ID: "RC-ATM-003", Name: "cmp-swap-fields", Severity: Error, Needs: Wire, Ref: "9.3.4",
		Text:   "A CMP_SWAP carries the swap operand first and the compare operand behind it.",
		NotWhy: "Which operand is which cannot be told from their values; a device that swaps them shows in memory.",
	},
	RCINV001 - reqFirst: {
		ID: "RC-INV-001", Name: "invalidate-rkey", Severity: Warning, Needs: WireQP, Ref: "9.4.1.1†",
		Text:  "A SEND with Invalidate names an R_Key that the peer advertised; using that R_Key again after delivery is an access error.",
		Where: "verifier/rc_request.go",
	},
	RCRES001 - reqFirst: {
		ID: "RC-RES-001", Name: "read-response-sequence", Severity: Error, Needs: WireQP, Ref: "9.4.4",
		Text:  "A READ is answered by exactly the packets that its length takes, at consecutive PSNs from that of the request: one Only, or First, Middles and Last.",
		Where: "verifier/rc_read.go",
	},
	RCRES002 - reqFirst: {
		ID: "RC-RES-002", Name: "read-response-length", Severity: Error, Needs: WireQP, Ref: "9.4.4",
		Text:  "READ responses First and Middle carry one PMTU, Last 1 byte to one PMTU, Only at most one PMTU; together they carry DMALen bytes.",
		Where: "verifier/rc_read.go",
	},
	RCRES003 - reqFirst: {
		ID: "RC-RES-003", Name: "read-response-lost", Severity: Error, Needs: Wire, Ref: "9.7.5†",
		Text:  "A READ response that is missing or out of order is an implied NAK: the requester asks again from the first PSN it lacks.",
		Where: "verifier/rc_again.go",
	},
	RCRES004 - reqFirst: {
		ID: "RC-RES-004", Name: "read-response-syndrome", Severity: Error, Needs: Wire, Ref: "9.7.5†",
		Text:  "The AETH of a READ or atomic response is of type ACK.",
		Where: "verifier/rc_read.go",
	},
	RCSEQ006 - reqFirst: {
		ID: "RC-SEQ-006", Name: "message-order", Severity: Error, Needs: WireWQE, Ref: "9.5†",
		Text:  "Messages are sent in the order in which their work requests were posted, and none that was not posted.",
		Where: "cq/sent.go",
	},
	RCLEN009 - reqFirst: {
		ID: "RC-LEN-009", Name: "write-content", Severity: Error, Needs: WireMem, Ref: "9.4†",
		Text:  "The payload of an RDMA WRITE is the content of its data segments.",
		Where: "cq/sent.go",
	},
	RCLEN010 - reqFirst: {
		ID: "RC-LEN-010", Name: "request-header", Severity: Error, Needs: WireWQE, Ref: "9.4†",
		Text:  "Address, R_Key, length, operands, immediate data and key to invalidate of a request are those of its work request.",
		Where: "cq/sent.go",
	},
	RCFEN001 - reqFirst: {
		ID: "RC-FEN-001", Name: "fence", Severity: Error, Needs: WireWQE, Ref: "10.8.3†",
		Text:  "A request with the fence modifier leaves only after all earlier READs and atomics of its queue pair have been answered.",
		Where: "cq/sent.go",
	},
	RCACK005 - reqFirst: {
		ID: "RC-ACK-005", Name: "completes-acknowledged", Severity: Error, Needs: WireCQE, Ref: "9.7.5†, 10.8.3†",
		Text:   "A work request completes in order, and only after its last packet is acknowledged.",
		NotWhy: "Judged as CPL-ORD-001 and CPL-STS-012.",
	},
	RCRES005 - reqFirst: {
		// An error once a public source confirms it; a warning until then.
		ID: "RC-RES-005", Name: "bad-response-status", Severity: Warning, Needs: WireCQE, Ref: "9.9.2.4†",
		Text:   "A response that does not fit the oldest outstanding request completes it with BAD_RESP_ERR.",
		NotWhy: "Judged as CPL-STS-008.",
	},
}
