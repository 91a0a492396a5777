package rule

// RC responder.
const (
	RCRSP001 ID = iota + rspFirst
	RCRSP002
	RCRSP003
	RCRSP004
	RCRSP005
	RCRSP006
	RCRSP007
	RCRSP008
	RCRSP009
	RCRSP010
	RCRSP013
	RCRSP014
	RCRSP015
	RCRSP016
	RCRSP017
	RCRSP018
	RCRSP019
	RCRSP021
	RCRSP022
	RCRSP023
	RCRSP026
	RCRSP027
	RCRSP029
	RCRSP030
	RCRSP031
	RCRSP032
	RCRSP033
	RCRSP036
	RCRSP037
	RCRSP040
	RCRSP042
	RCRSP043
	RCRSP044
	RCRSP024
	RCRSP038
	RCRSP020
	RCRSP025
	RCRSP028
	RCRSP039
	RCRSP041
	RCRSP034
	RCRSP011
	RCRSP012
	RCRSP035

	ucFirst
)

var rspRows = [ucFirst - rspFirst]Row{
	RCRSP001 - rspFirst: {
		ID: "RC-RSP-001", Name: "responder-epsn", Severity: Error, Needs: WireQP, Ref: "9.7.1†",
		Text:  "The responder expects the agreed start PSN first. A request at the expected PSN is new, one of the 2^23 before it a duplicate, and any other out of sequence.",
		Where: "verifier/rc/nak.go",
	},
	RCRSP002 - rspFirst: {
		ID: "RC-RSP-002", Name: "sequence-nak-missing", Severity: Error, Needs: Wire, Ref: "9.7.5.2†",
		Text:  "A request beyond the expected PSN is not executed; the responder sends one NAK PSN Sequence Error that carries the expected PSN.",
		Where: "verifier/rc/sequence_nak.go",
	},
	RCRSP003 - rspFirst: {
		ID: "RC-RSP-003", Name: "sequence-nak-repeated", Severity: Error, Needs: Wire, Ref: "9.7.5.2†",
		Text:  "After a sequence NAK the responder sends no other NAK until the expected request has come; it drops later new requests silently.",
		Where: "verifier/rc/repeated_nak.go",
	},
	RCRSP004 - rspFirst: {
		ID: "RC-RSP-004", Name: "duplicate-unanswered-after-nak", Severity: Warning, Needs: Wire, Ref: "9.7.5.2†",
		Text:  "While a sequence NAK is outstanding the responder still answers duplicates.",
		Where: "verifier/rc/duplicate_unanswered.go",
	},
	RCRSP005 - rspFirst: {
		ID: "RC-RSP-005", Name: "ack-missing", Severity: Error, Needs: Wire, Ref: "9.7.5†",
		Text:  "Every valid request with AckReq set gets a response of its PSN or a later one; a responder does not fall silent while one waits.",
		Where: "verifier/rc/missing_response.go",
	},
	RCRSP006 - rspFirst: {
		ID: "RC-RSP-006", Name: "response-order", Severity: Error, Needs: Wire, Ref: "9.7.5†",
		Text:  "Responses leave in PSN order, and none acknowledges a PSN that the responder has not received.",
		Where: "verifier/rc/acknowledge.go",
	},
	RCRSP007 - rspFirst: {
		ID: "RC-RSP-007", Name: "read-response-overtaken", Severity: Error, Needs: Wire, Ref: "9.5†",
		Text:  "Responses to an earlier READ or atomic leave before the ACK of a later request.",
		Where: "verifier/rc/acknowledge.go",
	},
	RCRSP008 - rspFirst: {
		ID: "RC-RSP-008", Name: "ack-format", Severity: Error, Needs: Wire, Ref: "9.7.5.1†",
		Text:  "An ACK is opcode Acknowledge with an AETH and no payload; PadCnt, AckReq and SE are 0.",
		Where: "verifier/header/service.go",
	},
	RCRSP009 - rspFirst: {
		ID: "RC-RSP-009", Name: "read-response-aeth", Severity: Error, Needs: Wire, Ref: "9.3.5",
		Text:  "READ responses First, Last and Only carry an AETH; Middle carries none.",
		Where: "verifier/rc/read_length.go",
	},
	RCRSP010 - rspFirst: {
		ID: "RC-RSP-010", Name: "atomic-ack-format", Severity: Error, Needs: Wire, Ref: "9.5.3",
		Text:  "An atomic is answered, at its own PSN, by ATOMIC Acknowledge: an AETH and the 8 bytes that were in memory before.",
		Where: "verifier/rc/read.go",
	},
	RCRSP013 - rspFirst: {
		ID: "RC-RSP-013", Name: "msn-count", Severity: Error, Needs: Wire, Ref: "C9-148, 9.7.7.1†",
		Text:  "The MSN starts at 0 and grows by one for each request message completed: SEND and WRITE at their last packet, READ once accepted, atomic once executed; duplicates do not count.",
		Where: "verifier/rc/msn.go",
	},
	RCRSP014 - rspFirst: {
		ID: "RC-RSP-014", Name: "msn-order", Severity: Error, Needs: Wire, Ref: "9.7.7.1†",
		Text:  "From response to response the MSN never goes back, and it never exceeds the number of messages received.",
		Where: "verifier/rc/msn.go",
	},
	RCRSP015 - rspFirst: {
		ID: "RC-RSP-015", Name: "nak-msn", Severity: Warning, Needs: Wire, Ref: "9.7.7.1†",
		Text:  "The MSN in a NAK does not count the request that is refused.",
		Where: "verifier/rc/msn.go",
	},
	RCRSP016 - rspFirst: {
		ID: "RC-RSP-016", Name: "nak-format", Severity: Error, Needs: Wire, Ref: "9.7.5.2†",
		Text:  "A NAK is always opcode Acknowledge, with a syndrome of type 3, or of type 1 for RNR.",
		Where: "verifier/rc/read.go",
	},
	RCRSP017 - rspFirst: {
		ID: "RC-RSP-017", Name: "nak-psn", Severity: Error, Needs: Wire, Ref: "9.7.5.2†",
		Text:  "A NAK carries the PSN of the request that failed, which is the expected PSN; in the middle of a READ it carries the PSN of the response that it replaces.",
		Where: "verifier/rc/nak.go",
	},
	RCRSP018 - rspFirst: {
		ID: "RC-RSP-018", Name: "rnr-nak-psn", Severity: Error, Needs: Wire, Ref: "9.7.5.2.8",
		Text:  "An RNR NAK carries the PSN of the request that was not served; that request is not executed, and stays the expected one.",
		Where: "verifier/rc/acknowledge.go",
	},
	RCRSP019 - rspFirst: {
		ID: "RC-RSP-019", Name: "rnr-timer-short", Severity: Error, Needs: WireQP, Ref: "9.7.5.2.8",
		Text:  "An RNR NAK asks for no shorter time than the min_rnr_timer of the responder's QP.",
		Where: "verifier/rc/rnr_nak.go",
	},
	RCRSP021 - rspFirst: {
		ID: "RC-RSP-021", Name: "nak-code-reserved", Severity: Error, Needs: Wire, Ref: "9.7.5.2†",
		Text:  "NAK codes are 0 sequence error, 1 invalid request, 2 remote access error, 3 remote operational error, and on RD 4 invalid RD request; no other is sent.",
		Where: "verifier/header/service.go",
	},
	RCRSP022 - rspFirst: {
		ID: "RC-RSP-022", Name: "syndrome-reserved", Severity: Error, Needs: Wire, Ref: "9.7.5.2†",
		Text:  "Bit 7 of the syndrome is 0 and its type is not 2; a requester ignores others.",
		Where: "verifier/header/service.go",
	},
	RCRSP023 - rspFirst: {
		ID: "RC-RSP-023", Name: "invalid-request-cause", Severity: Error, Needs: WireQP, Ref: "9.7.5.2.3†",
		Text:  "NAK Invalid Request has a cause: wrong opcode order, reserved opcode, operation not enabled, wrong length, misaligned atomic, too many READs or atomics. A request with such a fault gets no positive ACK.",
		Where: "verifier/rc/missing_nak.go",
	},
	RCRSP026 - rspFirst: {
		ID: "RC-RSP-026", Name: "zero-length-rkey", Severity: Error, Needs: Wire, Ref: "C9-88",
		Text:  "The R_Key of a WRITE or READ of length 0 is not checked, also with immediate data: such a request is not refused for lack of access.",
		Where: "verifier/rc/nak.go",
	},
	RCRSP027 - rspFirst: {
		ID: "RC-RSP-027", Name: "response-after-fatal-nak", Severity: Error, Needs: Wire, Ref: "9.9.3†",
		Text:  "After a NAK with code 1, 2 or 3 the responder's QP is in the error state and answers nothing any more.",
		Where: "verifier/rc/response.go",
	},
	RCRSP029 - rspFirst: {
		ID: "RC-RSP-029", Name: "duplicate-write-ack", Severity: Error, Needs: Wire, Ref: "C9-105",
		Text:  "A duplicate SEND or WRITE is not executed again but acknowledged, with the PSN of the latest request executed so far, short of an unanswered READ or atomic.",
		Where: "verifier/rc/acknowledge.go",
	},
	RCRSP030 - rspFirst: {
		ID: "RC-RSP-030", Name: "duplicate-read", Severity: Error, Needs: WireQP, Ref: "9.7.5.1†",
		Text:   "A duplicate READ is answered again if it is the original or a tail of it; else it is dropped.",
		NotWhy: "Judged as RC-RTY-007, on a request that is no tail of the original, and as RC-RES-001, on the answer to one that is; whether one was dropped or coalesced cannot be told.",
	},
	RCRSP031 - rspFirst: {
		ID: "RC-RSP-031", Name: "duplicate-atomic", Severity: Error, Needs: Wire, Ref: "9.7.5.1†",
		Text:  "A duplicate atomic is never executed again: the saved result is returned, or the request is dropped if none is left.",
		Where: "verifier/rc/atomic.go",
	},
	RCRSP032 - rspFirst: {
		ID: "RC-RSP-032", Name: "duplicate-order", Severity: Error, Needs: Wire, Ref: "C9-110",
		Text:   "Duplicates are answered in PSN order; an earlier one breaks off the response in progress for a later one.",
		NotWhy: "Judged as RC-RSP-006 and RC-RES-001: responses that are out of order.",
	},
	RCRSP033 - rspFirst: {
		ID: "RC-RSP-033", Name: "replay-resources", Severity: Warning, Needs: WireQP, Ref: "9.7.8†",
		Text:   "The responder keeps at least max_dest_rd_atomic READs and atomics, so that it can answer their duplicates.",
		NotWhy: "Judged as RC-RSP-005: an entry that was dropped shows when its duplicate goes unanswered.",
	},
	RCRSP036 - rspFirst: {
		ID: "RC-RSP-036", Name: "ack-before-accepted", Severity: Warning, Needs: Wire, Ref: "9.7.5.1.6",
		Text:  "A responder acknowledges only data that has reached it whole, never a packet with a wrong ICRC.",
		Where: "verifier/rc/acknowledge.go",
	},
	RCRSP037 - rspFirst: {
		ID: "RC-RSP-037", Name: "response-header", Severity: Error, Needs: WireQP, Ref: "9.7.5†",
		Text:  "A response names the requester's QP, carries the P_Key of the connection and the MigReq of its migration state, and never sets AckReq.",
		Where: "verifier/header/service.go",
	},
	RCRSP040 - rspFirst: {
		ID: "RC-RSP-040", Name: "sequence-before-opcode", Severity: Warning, Needs: Wire, Ref: "9.7.4†",
		Text:  "The PSN is checked before the opcode: a request with a wrong PSN and a wrong opcode is a sequence error or a duplicate, not an invalid request.",
		Where: "verifier/rc/missing_nak.go",
	},
	RCRSP042 - rspFirst: {
		ID: "RC-RSP-042", Name: "response-unprovoked", Severity: Warning, Needs: Wire, Ref: "9.7.7.2",
		Text:   "A responder sends nothing unsolicited, except an ACK that repeats the latest positive one to bring credits.",
		NotWhy: "Judged as RC-RSP-006 and RC-RES-001, on a response without a request to answer.",
	},
	RCRSP043 - rspFirst: {
		ID: "RC-RSP-043", Name: "nak-duplicate", Severity: Error, Needs: Wire, Ref: "9.7.5.2†",
		Text:  "A responder sends one NAK for the PSN that it expects: after an RNR NAK or a sequence NAK it is silent until that PSN is retransmitted.",
		Where: "verifier/rc/repeated_nak.go",
	},
	RCRSP044 - rspFirst: {
		ID: "RC-RSP-044", Name: "request-before-rts", Severity: Error, Needs: WireQP, Ref: "10.3.1",
		Text:   "A QP sends no request before it is in RTS; the first request that it receives in RTR only tells it that communication is established.",
		NotWhy: "Judged as CM-SM-016 where the communication manager shows the state of a QP, and as QPS-RTR-001 where verbs events do.",
	},
	RCRSP024 - rspFirst: {
		ID: "RC-RSP-024", Name: "access-nak-unfounded", Severity: Error, Needs: WireMem, Ref: "9.7.5.2.4†",
		Text:  "A NAK Remote Access Error has a cause: an unknown R_Key, a range outside its region, or an access that it does not permit.",
		Where: "cq/memory.go",
	},
	RCRSP038 - rspFirst: {
		ID: "RC-RSP-038", Name: "receive-not-posted", Severity: Error, Needs: WireWQE, Ref: "9.4†",
		Text:  "Every SEND and every RDMA WRITE with immediate takes one receive request, which was posted before.",
		Where: "cq/receive_posted.go",
	},
	RCRSP020 - rspFirst: {
		ID: "RC-RSP-020", Name: "rnr-nak-unfounded", Severity: Error, Needs: WireWQE, Ref: "9.7.5.2.8",
		Text:  "A responder sends an RNR NAK only where no receive request is posted.",
		Where: "cq/receive_posted.go",
	},
	RCRSP025 - rspFirst: {
		ID: "RC-RSP-025", Name: "operational-nak-unfounded", Severity: Warning, Needs: WireCQE, Ref: "9.7.5.2.5†",
		Text:  "A NAK Remote Operational Error has a cause at the responder: a receive request that is faulty, or a queue pair that has failed. That of a SEND is judged by CPL-STS-010.",
		Where: "cq/responder_error.go",
	},
	RCRSP028 - rspFirst: {
		ID: "RC-RSP-028", Name: "refusal-untold", Severity: Error, Needs: WireCQE, Ref: "C9-222.1.1",
		Text:  "A responder that refuses a request with NAK Invalid Request tells its consumer: by the completion of the receive request that the message has taken, or by an event. For Remote Access Errors see CPL-STS-011.",
		Where: "cq/responder_error.go",
	},
	RCRSP039 - rspFirst: {
		ID: "RC-RSP-039", Name: "too-long-nak", Severity: Warning, Needs: WireCQE, Ref: "9.9.3†",
		Text:  "A SEND that is longer than its receive request is refused with NAK Invalid Request.",
		Where: "cq/responder_error.go",
	},
	RCRSP041 - rspFirst: {
		ID: "RC-RSP-041", Name: "invalidate-failed", Severity: Warning, Needs: WireCQE, Ref: "9.9.3†",
		Text:   "A SEND with Invalidate completes when its R_Key is invalidated, and fails where it cannot be.",
		NotWhy: "Judged as CPL-INV-002 and CPL-MEM-005.",
	},
	RCRSP034 - rspFirst: {
		ID: "RC-RSP-034", Name: "relaxed-order", Severity: Info, Needs: WireMem, Ref: "9.5†",
		Text:   "A SEND or WRITE after a READ may be carried out before the data of the READ is fetched; the responses stay in order.",
		NotWhy: "A permission: nothing can break it. The order of the responses is judged by RC-RES-001.",
	},
	RCRSP011 - rspFirst: {
		ID: "RC-RSP-011", Name: "atomic-memory", Severity: Error, Needs: WireMem, Ref: "9.4.5†",
		Text:  "The result of an atomic is what memory held before it, and memory holds then what the atomic makes of that.",
		Where: "cq/memory_content_check.go",
	},
	RCRSP012 - rspFirst: {
		ID: "RC-RSP-012", Name: "read-memory", Severity: Error, Needs: WireMem, Ref: "9.4.4",
		Text:  "The data of a READ is what memory holds.",
		Where: "cq/memory_content_check.go",
	},
	RCRSP035 - rspFirst: {
		ID: "RC-RSP-035", Name: "write-visible", Severity: Error, Needs: WireMem, Ref: "9.5†",
		Text:  "The data of a WRITE is in memory when the consumer is told of a later message to the same queue pair.",
		Where: "cq/memory_content_check.go",
	},
}
