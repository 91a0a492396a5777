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

	eventFirst
)

var cplRows = [eventFirst - cplFirst]Row{
	CPLSTS001 - cplFirst: {
		ID: "CPL-STS-001", Name: "status-unknown", Severity: Error, Needs: Verbs, Ref: "11.6.2†",
		Text:  "The status of a completion is one of the 22 that are defined.",
		Where: "cq/order.go",
	},
	CPLSTS002 - cplFirst: {
		ID: "CPL-STS-002", Name: "status-invalid-request", Severity: Error, Needs: WireCQE, Ref: "9.9.2†",
		Text:  "A NAK Invalid Request, and nothing else, completes the request that it names with REM_INV_REQ_ERR.",
		Where: "cq/status.go",
	},
	CPLSTS003 - cplFirst: {
		ID: "CPL-STS-003", Name: "status-remote-access", Severity: Error, Needs: WireCQE, Ref: "9.9.2†",
		Text:  "A NAK Remote Access Error, and nothing else, completes the request that it names with REM_ACCESS_ERR.",
		Where: "cq/status.go",
	},
	CPLSTS004 - cplFirst: {
		ID: "CPL-STS-004", Name: "status-remote-operation", Severity: Error, Needs: WireCQE, Ref: "9.9.2†",
		Text:  "A NAK Remote Operational Error, and nothing else, completes the request that it names with REM_OP_ERR.",
		Where: "cq/status.go",
	},
	CPLSTS006 - cplFirst: {
		ID: "CPL-STS-006", Name: "status-retry-exceeded", Severity: Error, Needs: WireCQE, Ref: "9.9.2.4.1†",
		Text:  "RETRY_EXC_ERR comes after the oldest packet was sent once and as often again as the retry count says, without progress.",
		Where: "cq/status.go",
	},
	CPLSTS007 - cplFirst: {
		ID: "CPL-STS-007", Name: "status-rnr-exceeded", Severity: Error, Needs: WireCQE, Ref: "9.9.2.4.1†",
		Text:  "RNR_RETRY_EXC_ERR comes after one RNR NAK more than the RNR retry count, and never where that is 7.",
		Where: "cq/status.go",
	},
	CPLSTS012 - cplFirst: {
		ID: "CPL-STS-012", Name: "success-not-acknowledged", Severity: Error, Needs: WireCQE, Ref: "9.7.5†",
		Text:  "An RC request completes with success only after an answer that acknowledges its last packet.",
		Where: "cq/status.go",
	},
	CPLSTS013 - cplFirst: {
		ID: "CPL-STS-013", Name: "success-not-answered", Severity: Error, Needs: WireCQE, Ref: "9.7.5†",
		Text:  "A READ or atomic completes with success only after all of its response has arrived.",
		Where: "cq/status.go",
	},
	CPLSTS014 - cplFirst: {
		ID: "CPL-STS-014", Name: "receive-without-message", Severity: Error, Needs: WireCQE, Ref: "9.7.4†",
		Text:  "A receive request of RC or UC completes with success only after the whole message has arrived.",
		Where: "cq/receive.go",
	},
	CPLORD001 - cplFirst: {
		ID: "CPL-ORD-001", Name: "completion-order", Severity: Warning, Needs: WireWQE, Ref: "10.8.3†",
		Text:  "The requests of a work queue complete in the order in which they were posted.",
		Where: "cq/order.go",
	},
	CPLORD002 - cplFirst: {
		ID: "CPL-ORD-002", Name: "completion-once", Severity: Error, Needs: WireWQE, Ref: "10.8†",
		Text:  "Every work request completes once at most, and nothing completes that was not posted.",
		Where: "cq/order.go",
	},
	CPLORD003 - cplFirst: {
		ID: "CPL-ORD-003", Name: "flush-before-error", Severity: Error, Needs: Verbs, Ref: "10.3.1",
		Text:  "The first error of a work queue comes before the requests that are flushed because of it.",
		Where: "cq/order.go",
	},
	CPLORD004 - cplFirst: {
		ID: "CPL-ORD-004", Name: "success-after-error", Severity: Error, Needs: Verbs, Ref: "10.3.1",
		Text:  "After an error of a work queue no later request of it completes with success.",
		Where: "cq/order.go",
	},
	CPLSIG001 - cplFirst: {
		ID: "CPL-SIG-001", Name: "unsignaled-completion", Severity: Error, Needs: WireWQE, Ref: "10.7.3.1",
		Text:  "A send request without the signalled modifier makes no completion when it succeeds.",
		Where: "cq/order.go",
	},
	CPLSIG003 - cplFirst: {
		ID: "CPL-SIG-003", Name: "signaled-no-completion", Severity: Error, Needs: WireWQE, Ref: "10.7.3.1",
		Text:  "A queue pair that signals all send requests makes a completion for each.",
		Where: "cq/order.go",
	},
	CPLLEN001 - cplFirst: {
		ID: "CPL-LEN-001", Name: "receive-length", Severity: Error, Needs: WireCQE, Ref: "11.4.2",
		Text:  "The length of a receive completion is the payload of the SEND without pad bytes.",
		Where: "cq/receive.go",
	},
	CPLLEN002 - cplFirst: {
		ID: "CPL-LEN-002", Name: "receive-write-length", Severity: Error, Needs: WireCQE, Ref: "11.4.2",
		Text:  "The length of the receive completion of an RDMA WRITE with immediate is the DMALen of the WRITE.",
		Where: "cq/receive.go",
	},
	CPLLEN003 - cplFirst: {
		ID: "CPL-LEN-003", Name: "read-length", Severity: Warning, Needs: WireCQE, Ref: "11.4.2",
		Text:  "The length of a READ completion is what was read, that of an atomic 8.",
		Where: "cq/status.go",
	},
	CPLLEN004 - cplFirst: {
		ID: "CPL-LEN-004", Name: "message-length", Severity: Error, Needs: WireWQE, Ref: "10.7†",
		Text:  "A message is as long as the data segments of its work request together.",
		Where: "cq/sent.go",
	},
	CPLOPC001 - cplFirst: {
		ID: "CPL-OPC-001", Name: "completion-opcode", Severity: Error, Needs: WireCQE, Ref: "11.4.2",
		Text:  "A completion names the operation of its work request; a receive completion, that of the message.",
		Where: "cq/status.go",
	},
	CPLIMM001 - cplFirst: {
		ID: "CPL-IMM-001", Name: "completion-immediate", Severity: Error, Needs: WireCQE, Ref: "11.4.2",
		Text:  "A receive completion has the immediate data of the message, and none where the message has none.",
		Where: "cq/receive.go",
	},
	CPLINV001 - cplFirst: {
		ID: "CPL-INV-001", Name: "completion-invalidate", Severity: Error, Needs: WireCQE, Ref: "9.4.1.1†",
		Text:  "A receive completion names the R_Key that the message invalidated, and none where it invalidates none.",
		Where: "cq/receive.go",
	},
	CPLMEM001 - cplFirst: {
		ID: "CPL-MEM-001", Name: "memory-content", Severity: Error, Needs: WireMem, Ref: "9.4.3†",
		Text:  "What a message has put into memory equals its payload.",
		Where: "cq/receive.go",
	},
	CPLMEM003 - cplFirst: {
		ID: "CPL-MEM-003", Name: "send-content", Severity: Error, Needs: WireMem, Ref: "9.4.1†",
		Text:  "The payload of a SEND is the content of its data segments.",
		Where: "cq/sent.go",
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
		Where: "cq/order.go",
	},
	CPLSTS009 - cplFirst: {
		ID: "CPL-STS-009", Name: "receive-too-long", Severity: Warning, Needs: WireCQE, Ref: "9.9.3†",
		Text:  "A SEND that is longer than its receive request does not complete with success.",
		Where: "cq/receive.go",
	},
	CPLSRQ002 - cplFirst: {
		ID: "CPL-SRQ-002", Name: "shared-flush", Severity: Error, Needs: Verbs, Ref: "10.3.1",
		Text:  "A queue pair in error flushes no requests of a shared receive queue but the one that it had taken.",
		Where: "cq/order.go",
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
		Text:  "A completion names the queue pair that its request was posted to.",
		Where: "cq/other.go",
	},
}
