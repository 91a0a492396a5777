package rule

// Completions.
const (
	CPLSTS001 ID = iota + cplFirst
	CPLSTS002
	CPLSTS003
	CPLSTS004
	CPLSTS006
	CPLSTS007
	CPLSTS012
	CPLSTS013
	CPLSTS014
	CPLORD001
	CPLORD002
	CPLORD003
	CPLORD004
	CPLSIG001
	CPLSIG003
	CPLLEN001
	CPLLEN002
	CPLLEN003
	CPLLEN004
	CPLOPC001
	CPLIMM001
	CPLINV001
	CPLMEM001
	CPLMEM003
	CPLMEM005
	CPLSRQ004
	CPLIMD001
	CPLSTS009
	CPLSRQ002
	CPLCQ003
	CPLSOL003
	CPLQP001
	CPLCQ001
	CPLCQ002
	CPLCQ004
	CPLSOL001
	CPLSOL002
	CPLSRQ001
	CPLSRQ003
	CPLSRQ005
	CPLRWQ001
	CPLSTS005
	CPLSTS008
	CPLSTS010
	CPLSTS011
	CPLSTS015
	CPLSIG002
	CPLINV002
	CPLAH001
	CPLTIM001
	CPLMW001
	CPLMW002
	CPLMW003
	CPLMW004
	CPLMW005
	CPLMW006
	CPLMW007
	CPLFNC002
	CPLSTS016
	CPLIMD002
	CPLSTS017
	CPLSTS018

	eventFirst
)

var cplRows = [eventFirst - cplFirst]Row{
	CPLSTS001 - cplFirst: {
		ID: "CPL-STS-001", Name: "status-unknown", Severity: Error, Needs: Verbs, Ref: "11.6.2†",
		Text:  "The status of a completion is one of the 22 that are defined.",
		Where: "cq/completed_request.go",
	},
	CPLSTS002 - cplFirst: {
		ID: "CPL-STS-002", Name: "status-invalid-request", Severity: Error, Needs: WireCQE, Ref: "9.9.2†",
		Text:  "A NAK Invalid Request, and nothing else, completes the request that it names with REM_INV_REQ_ERR.",
		Where: "cq/send_status.go",
	},
	CPLSTS003 - cplFirst: {
		ID: "CPL-STS-003", Name: "status-remote-access", Severity: Error, Needs: WireCQE, Ref: "9.9.2†",
		Text:  "A NAK Remote Access Error, and nothing else, completes the request that it names with REM_ACCESS_ERR.",
		Where: "cq/send_status.go",
	},
	CPLSTS004 - cplFirst: {
		ID: "CPL-STS-004", Name: "status-remote-operation", Severity: Error, Needs: WireCQE, Ref: "9.9.2†",
		Text:  "A NAK Remote Operational Error, and nothing else, completes the request that it names with REM_OP_ERR.",
		Where: "cq/send_status.go",
	},
	CPLSTS006 - cplFirst: {
		ID: "CPL-STS-006", Name: "status-retry-exceeded", Severity: Error, Needs: WireCQE, Ref: "9.9.2.4.1†",
		Text:  "A request whose oldest packet was transmitted once and retransmitted as often as the retry count says, without progress, and no other, completes with RETRY_EXC_ERR.",
		Where: "cq/retry_status.go",
	},
	CPLSTS007 - cplFirst: {
		ID: "CPL-STS-007", Name: "status-rnr-exceeded", Severity: Error, Needs: WireCQE, Ref: "9.9.2.4.1†",
		Text:  "A request that was refused with one RNR NAK more than the RNR retry count, and no other, completes with RNR_RETRY_EXC_ERR; where that count is 7, none does.",
		Where: "cq/retry_status.go",
	},
	CPLSTS012 - cplFirst: {
		ID: "CPL-STS-012", Name: "success-not-acknowledged", Severity: Error, Needs: WireCQE, Ref: "9.7.5†",
		Text:  "An RC request completes with success only after an answer that acknowledges its last packet.",
		Where: "cq/send_status.go",
	},
	CPLSTS013 - cplFirst: {
		ID: "CPL-STS-013", Name: "success-not-answered", Severity: Error, Needs: WireCQE, Ref: "9.7.5†",
		Text:  "A READ or atomic completes with success only after all of its response has arrived.",
		Where: "cq/send_status.go",
	},
	CPLSTS014 - cplFirst: {
		ID: "CPL-STS-014", Name: "receive-without-message", Severity: Error, Needs: WireCQE, Ref: "9.7.4†",
		Text:  "A receive request of RC or UC completes with success only after the whole message has arrived.",
		Where: "cq/receive_completion.go",
	},
	CPLORD001 - cplFirst: {
		ID: "CPL-ORD-001", Name: "completion-order", Severity: Warning, Needs: WireWQE, Ref: "10.8.3†",
		Text:  "The requests of a work queue complete in the order in which they were posted.",
		Where: "cq/completion_order.go",
	},
	CPLORD002 - cplFirst: {
		ID: "CPL-ORD-002", Name: "completion-once", Severity: Error, Needs: WireWQE, Ref: "10.8†",
		Text:  "Every work request completes once at most, and nothing completes that was not posted.",
		Where: "cq/unposted_completion.go",
	},
	CPLORD003 - cplFirst: {
		ID: "CPL-ORD-003", Name: "flush-before-error", Severity: Error, Needs: Verbs, Ref: "10.3.1",
		Text:  "The first error of a work queue comes before the requests that are flushed because of it.",
		Where: "cq/completion_order.go",
	},
	CPLORD004 - cplFirst: {
		ID: "CPL-ORD-004", Name: "success-after-error", Severity: Error, Needs: Verbs, Ref: "10.3.1",
		Text:  "After an error of a work queue no later request of it completes with success.",
		Where: "cq/completion_order.go",
	},
	CPLSIG001 - cplFirst: {
		ID: "CPL-SIG-001", Name: "unsignaled-completion", Severity: Error, Needs: WireWQE, Ref: "10.7.3.1",
		Text:  "A send request without the signalled modifier makes no completion when it succeeds.",
		Where: "cq/unposted_completion.go",
	},
	CPLSIG003 - cplFirst: {
		ID: "CPL-SIG-003", Name: "signaled-no-completion", Severity: Error, Needs: WireWQE, Ref: "10.7.3.1",
		Text:  "Each send request that is signalled makes a completion: all, where the queue pair signals all.",
		Where: "cq/completion_order.go",
	},
	CPLLEN001 - cplFirst: {
		ID: "CPL-LEN-001", Name: "receive-length", Severity: Error, Needs: WireCQE, Ref: "11.4.2",
		Text:  "The length of a receive completion is the payload of the SEND without pad bytes.",
		Where: "cq/receive_check.go",
	},
	CPLLEN002 - cplFirst: {
		ID: "CPL-LEN-002", Name: "receive-write-length", Severity: Error, Needs: WireCQE, Ref: "11.4.2",
		Text:  "The length of the receive completion of an RDMA WRITE with immediate is the DMALen of the WRITE.",
		Where: "cq/receive_check.go",
	},
	CPLLEN003 - cplFirst: {
		ID: "CPL-LEN-003", Name: "read-length", Severity: Warning, Needs: WireCQE, Ref: "11.4.2",
		Text:  "The length of a READ completion is what was read, that of an atomic 8.",
		Where: "cq/send_status.go",
	},
	CPLLEN004 - cplFirst: {
		ID: "CPL-LEN-004", Name: "message-length", Severity: Error, Needs: WireWQE, Ref: "10.7†",
		Text:  "A message is as long as the data segments of its work request together.",
		Where: "cq/request_headers.go",
	},
	CPLOPC001 - cplFirst: {
		ID: "CPL-OPC-001", Name: "completion-opcode", Severity: Error, Needs: WireCQE, Ref: "11.4.2",
		Text:  "A completion names the operation of its work request; a receive completion, that of the message.",
		Where: "cq/send_status.go",
	},
	CPLIMM001 - cplFirst: {
		ID: "CPL-IMM-001", Name: "completion-immediate", Severity: Error, Needs: WireCQE, Ref: "11.4.2",
		Text:  "A receive completion has the immediate data of the message, and none where the message has none.",
		Where: "cq/receive_check.go",
	},
	CPLINV001 - cplFirst: {
		ID: "CPL-INV-001", Name: "completion-invalidate", Severity: Error, Needs: WireCQE, Ref: "9.4.1.1†",
		Text:  "A receive completion names the R_Key that the message invalidated, and none where it invalidates none.",
		Where: "cq/receive_check.go",
	},
	CPLMEM001 - cplFirst: {
		ID: "CPL-MEM-001", Name: "memory-content", Severity: Error, Needs: WireMem, Ref: "9.4.3†",
		Text:  "What a message has put into memory equals its payload.",
		Where: "cq/receive_check.go",
	},
	CPLMEM003 - cplFirst: {
		ID: "CPL-MEM-003", Name: "send-content", Severity: Error, Needs: WireMem, Ref: "9.4.1†",
		Text:  "The payload of a SEND is the content of its data segments.",
		Where: "cq/request_headers.go",
	},
	CPLMEM005 - cplFirst: {
		ID: "CPL-MEM-005", Name: "key-access", Severity: Error, Needs: WireMem, Ref: "10.6†",
		Text:  "A responder does only what the R_Key permits: the key is registered, the range inside, the access allowed.",
		Where: "cq/memory.go",
	},
	CPLSRQ004 - cplFirst: {
		ID: "CPL-SRQ-004", Name: "post-to-shared", Severity: Error, Needs: WireQP, Ref: "9.7.7.2",
		Text:  "Posting a receive request to a queue pair that has a shared receive queue fails at once.",
		Where: "cq/post.go",
	},
	CPLIMD001 - cplFirst: {
		ID: "CPL-IMD-001", Name: "failed-post-completes", Severity: Warning, Needs: Verbs, Ref: "11.4.1.1",
		Text:  "A post that fails at once makes no completion.",
		Where: "cq/unposted_completion.go",
	},
	CPLSTS009 - cplFirst: {
		ID: "CPL-STS-009", Name: "receive-too-long", Severity: Warning, Needs: WireCQE, Ref: "9.9.3†",
		Text:  "A SEND that is longer than its receive request does not complete with success, and one that was acknowledged does not with LOC_LEN_ERR.",
		Where: "cq/receive_check.go",
	},
	CPLSRQ002 - cplFirst: {
		ID: "CPL-SRQ-002", Name: "shared-flush", Severity: Error, Needs: Verbs, Ref: "10.3.1",
		Text:  "A queue pair in error flushes no requests of a shared receive queue but the one that it had taken.",
		Where: "cq/completion_order.go",
	},
	CPLCQ003 - cplFirst: {
		ID: "CPL-CQ-003", Name: "queue-in-use", Severity: Warning, Needs: Verbs, Ref: "C11-17",
		Text:  "A completion queue that queue pairs use is not destroyed.",
		Where: "cq/notify.go",
	},
	CPLSOL003 - cplFirst: {
		ID: "CPL-SOL-003", Name: "notification-once", Severity: Warning, Needs: Verbs, Ref: "11.4.2.2",
		Text:  "A completion queue tells of itself once for each time that it was armed.",
		Where: "cq/notify.go",
	},
	CPLQP001 - cplFirst: {
		ID: "CPL-QP-001", Name: "completion-queue-pair", Severity: Error, Needs: WireCQE, Ref: "11.4.2",
		Text:  "A completion names the queue pair that its request was posted to, and is in a completion queue of that.",
		Where: "cq/foreign_completion.go",
	},
	CPLCQ001 - cplFirst: {
		ID: "CPL-CQ-001", Name: "queue-overrun", Severity: Error, Needs: Verbs, Ref: "11.6.3†",
		Text:  "A completion queue that has overrun is of no use any more: no completion follows, and its queue pairs are in error.",
		Where: "cq/completionqueue.go",
	},
	CPLCQ002 - cplFirst: {
		ID: "CPL-CQ-002", Name: "queue-depth", Severity: Error, Needs: Verbs, Ref: "11.2.8†",
		Text:  "A completion queue holds no more completions than it has room for.",
		Where: "cq/completionqueue.go",
	},
	CPLCQ004 - cplFirst: {
		ID: "CPL-CQ-004", Name: "queue-of-management", Severity: Info, Needs: Verbs, Ref: "C11-15",
		Text:   "QP0 and QP1 share no completion queue with other queue pairs, where the device does not support that.",
		NotWhy: "It holds on some devices only, and nothing tells on which.",
	},
	CPLSOL001 - cplFirst: {
		ID: "CPL-SOL-001", Name: "solicited-event", Severity: Error, Needs: WireCQE, Ref: "11.4.2.2",
		Text:  "A completion queue that is armed for solicited events tells of the completion of a message with SE, or with an error, and of no other.",
		Where: "cq/solicited.go",
	},
	CPLSOL002 - cplFirst: {
		ID: "CPL-SOL-002", Name: "arming-weakened", Severity: Error, Needs: Verbs, Ref: "C11-31, C11-32",
		Text:  "A completion queue that is armed for the next completion tells of it, also where it is armed for a solicited event after that.",
		Where: "cq/solicited.go",
	},
	CPLSRQ001 - cplFirst: {
		ID: "CPL-SRQ-001", Name: "shared-order", Severity: Info, Needs: WireCQE, Ref: "10.8.3.2",
		Text:   "A message takes any request of a shared receive queue, which then belongs to its queue pair.",
		NotWhy: "A permission. That each request completes once at most, CPL-ORD-002 judges.",
	},
	CPLSRQ003 - cplFirst: {
		ID: "CPL-SRQ-003", Name: "shared-limit", Severity: Error, Needs: Verbs, Ref: "10.2.9†",
		Text:  "A shared receive queue tells once that fewer requests are left than its limit, and not again until it is rearmed.",
		Where: "cq/sharedqueue.go",
	},
	CPLSRQ005 - cplFirst: {
		ID: "CPL-SRQ-005", Name: "shared-post-in-error", Severity: Info, Needs: Verbs, Ref: "10.2.9.5",
		Text:   "Posting to a shared receive queue that is in error may succeed.",
		NotWhy: "A permission: either is right.",
	},
	CPLRWQ001 - cplFirst: {
		ID: "CPL-RWQ-001", Name: "failed-write-takes", Severity: Warning, Needs: WireCQE, Ref: "C10-87, 10.7.2.2",
		Text:  "A WRITE with immediate data that fails takes no receive request.",
		Where: "cq/responder_error_receive.go",
	},
	CPLSTS005 - cplFirst: {
		ID: "CPL-STS-005", Name: "status-invalid-rd-request", Severity: Error, Needs: WireCQE, Ref: "9.9.2†",
		Text:  "A NAK Invalid RD Request, and nothing else, completes the request that it names with REM_INV_RD_REQ_ERR.",
		Where: "cq/send_status.go",
	},
	CPLSTS008 - cplFirst: {
		ID: "CPL-STS-008", Name: "status-bad-response", Severity: Error, Needs: WireCQE, Ref: "9.9.2†",
		Text:  "A response that does not fit its request, and nothing else, completes the request with BAD_RESP_ERR.",
		Where: "cq/local_invalidate.go",
	},
	CPLSTS010 - cplFirst: {
		ID: "CPL-STS-010", Name: "status-receive-denied", Severity: Error, Needs: WireCQE, Ref: "9.9.3†",
		Text:  "A receive request whose memory is denied completes with LOC_QP_OP_ERR or LOC_PROT_ERR, and the message is refused with a NAK Remote Operational Error, not acknowledged.",
		Where: "cq/responder_error_receive.go",
	},
	CPLSTS011 - cplFirst: {
		ID: "CPL-STS-011", Name: "status-access-violation", Severity: Warning, Needs: WireCQE, Ref: "9.9.3†",
		Text:  "The consumer of a responder learns of a remote access violation: by an event, or by an error of the receive request that was taken.",
		Where: "cq/responder_error_receive.go",
	},
	CPLSTS015 - cplFirst: {
		ID: "CPL-STS-015", Name: "error-fields", Severity: Info, Needs: Verbs, Ref: "11.4.2",
		Text:   "Of a completion with an error only the identifier, the status, the queue pair and the vendor's code are valid.",
		NotWhy: "A limit for whoever reads completions; the other fields are not judged there.",
	},
	CPLSIG002 - cplFirst: {
		ID: "CPL-SIG-002", Name: "unsignaled-error", Severity: Error, Needs: WireWQE, Ref: "10.7.3.1",
		Text:  "A send request that fails makes a completion, signalled or not.",
		Where: "cq/local_invalidate.go",
	},
	CPLINV002 - cplFirst: {
		ID: "CPL-INV-002", Name: "invalidate-refused", Severity: Error, Needs: WireCQE, Ref: "o10-37.2.26",
		Text:  "A SEND with Invalidate is refused where its R_Key cannot be invalidated: none, invalid already, of a window of type 1, or of another queue pair or protection domain.",
		Where: "cq/memory.go",
	},
	CPLAH001 - cplFirst: {
		ID: "CPL-AH-001", Name: "foreign-address-handle", Severity: Warning, Needs: WireWQE, Ref: "C10-10, 10.2.3",
		Text:  "A datagram is not sent by an address handle of another protection domain than its queue pair.",
		Where: "cq/local_invalidate.go",
	},
	CPLTIM001 - cplFirst: {
		ID: "CPL-TIM-001", Name: "completion-before-memory", Severity: Warning, Needs: WireMem, Ref: "9.7.5.1.2, 9.5†",
		Text:   "When a receive completion is there, so is the data of its message; the ACK may have come before.",
		NotWhy: "Judged as CPL-MEM-001: the data is that of the time when the completion was polled.",
	},
	CPLMW001 - cplFirst: {
		ID: "CPL-MW-001", Name: "window-zero-based", Severity: Warning, Needs: Verbs, Ref: "o10-36.2.2",
		Text:  "A memory window of type 1 is not zero based.",
		Where: "cq/window.go",
	},
	CPLMW002 - cplFirst: {
		ID: "CPL-MW-002", Name: "window-bound", Severity: Warning, Needs: Verbs, Ref: "o10-37.2.30",
		Text:  "A memory window of type 2 is bound only while it is free.",
		Where: "cq/window.go",
	},
	CPLMW003 - cplFirst: {
		ID: "CPL-MW-003", Name: "window-domain", Severity: Warning, Needs: Verbs, Ref: "C10-72",
		Text:  "A memory window of type 2 is bound only by a queue pair of its protection domain.",
		Where: "cq/window.go",
	},
	CPLMW004 - cplFirst: {
		ID: "CPL-MW-004", Name: "window-empty", Severity: Warning, Needs: Verbs, Ref: "o10-37.2.40",
		Text:  "A memory window of type 2 is not bound to 0 bytes.",
		Where: "cq/window.go",
	},
	CPLMW005 - cplFirst: {
		ID: "CPL-MW-005", Name: "window-not-permitted", Severity: Warning, Needs: Verbs, Ref: "C10-73",
		Text:  "A memory window is bound only to a region that permits windows.",
		Where: "cq/window.go",
	},
	CPLMW006 - cplFirst: {
		ID: "CPL-MW-006", Name: "window-rights", Severity: Warning, Needs: Verbs, Ref: "C10-74",
		Text:  "A memory window that lets peers write, or work atomically, is bound only to a region that lets the consumer write.",
		Where: "cq/window.go",
	},
	CPLMW007 - cplFirst: {
		ID: "CPL-MW-007", Name: "window-range", Severity: Warning, Needs: Verbs, Ref: "C10-75",
		Text:  "A memory window lies inside its region.",
		Where: "cq/window.go",
	},
	CPLFNC002 - cplFirst: {
		ID: "CPL-FNC-002", Name: "invalidate-fence", Severity: Warning, Needs: WireWQE, Ref: "10.6.5.1",
		Text:  "A local invalidate waits until all requests before it are complete.",
		Where: "cq/local_invalidate.go",
	},
	CPLSTS016 - cplFirst: {
		ID: "CPL-STS-016", Name: "completion-missing", Severity: Error, Needs: WireCQE, Ref: "10.8.3†, 9.9.2.4.1†",
		Text:  "A signalled request of RC or XRC that has been answered completes, and so do any request that was refused for good, or whose retries are exhausted, and a receive request whose message is acknowledged.",
		Where: "cq/missing_completion.go",
	},
	CPLIMD002 - cplFirst: {
		ID: "CPL-IMD-002", Name: "invalid-request-succeeds", Severity: Warning, Needs: Verbs, Ref: "11.4.1.1†, 10.8.2.1†",
		Text: "A work request that its queue pair cannot carry out fails at once, or completes in error: an operation that its service does not have, more data segments, inline data or bytes " +
			"than it takes, data that cannot be inline, an atomic on other than 8 aligned bytes.",
		Where: "cq/invalid_request.go",
	},
	CPLSTS017 - cplFirst: {
		ID: "CPL-STS-017", Name: "local-protection", Severity: Warning, Needs: Verbs, Ref: "11.6.2†, 10.6.3†",
		Text: "A work request whose data segments no region opens fails at once, or completes with LOC_PROT_ERR: an L_Key that is none, or none any more, or of another protection domain, " +
			"bytes outside of its region, or a region that the device may not write where data comes back.",
		Where: "cq/local_protection.go",
	},
	CPLSTS018 - cplFirst: {
		ID: "CPL-STS-018", Name: "local-error-acknowledged", Severity: Warning, Needs: WireCQE, Ref: "11.6.2†, 9.7.5†",
		Text: "A SEND or WRITE that completes with LOC_PROT_ERR or LOC_LEN_ERR, as the device cannot read its data segments or they are too long, " +
			"has not been sent whole, and so its peer has not acknowledged it.",
		Where: "cq/local_protection.go",
	},
}
