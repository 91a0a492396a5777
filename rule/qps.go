package rule

// Queue pair states.
const (
	QPSTRN001 ID = iota + qpsFirst
	QPSTRN002
	QPSTRN003
	QPSTRN004
	QPSTRN005
	QPSRST001
	QPSINI001
	QPSRTR001
	QPSERR001
	QPSERR002
	QPSATT001
	QPSATT003
	QPSATT005
	QPSATT006
	QPSSQD002
	QPSACT001
	QPSSQD001
	QPSRTR002
	QPSRTS001
	QPSSQE001
	QPSPSN001
	QPSATT002
	QPSATT004
	QPSMC001
	QPSNEW001
	QPSDST001

	cplFirst
)

var qpsRows = [cplFirst - qpsFirst]Row{
	QPSTRN001 - qpsFirst: {
		ID: "QPS-TRN-001", Name: "transition-not-legal", Severity: Error, Needs: Verbs, Ref: "10.3.1",
		Text:  "A device makes only the transitions of the state table: RESET, INIT, RTR, RTS in this order, RTS to SQD and back, SQE to RTS, and to RESET or ERR from anywhere.",
		Where: "cq/state.go",
	},
	QPSTRN002 - qpsFirst: {
		ID: "QPS-TRN-002", Name: "transition-attribute-missing", Severity: Error, Needs: Verbs, Ref: "11.2.5.2†",
		Text:  "A transition for which a required attribute is not given fails.",
		Where: "cq/state.go",
	},
	QPSTRN003 - qpsFirst: {
		ID: "QPS-TRN-003", Name: "transition-attribute-foreign", Severity: Error, Needs: Verbs, Ref: "11.2.5.2†",
		Text:  "A transition for which an attribute is given that it does not take fails.",
		Where: "cq/state.go",
	},
	QPSTRN004 - qpsFirst: {
		ID: "QPS-TRN-004", Name: "sqe-on-rc", Severity: Error, Needs: Verbs, Ref: "10.3.1",
		Text:  "Only UC, UD, RD and management queue pairs have the state SQE; RC goes to ERR on every error of the requester.",
		Where: "cq/state.go",
	},
	QPSTRN005 - qpsFirst: {
		ID: "QPS-TRN-005", Name: "current-state-wrong", Severity: Error, Needs: Verbs, Ref: "11.2.5.2†",
		Text:  "A transition that names a current state other than the one that the queue pair is in, or one before RTR, fails.",
		Where: "qp/value.go",
	},
	QPSRST001 - qpsFirst: {
		ID: "QPS-RST-001", Name: "post-in-reset", Severity: Error, Needs: WireQP, Ref: "C10-97.2.1",
		Text:  "In RESET nothing is sent, and posting a request fails at once; before RTS posting a send request does.",
		Where: "cq/post.go",
	},
	QPSINI001 - qpsFirst: {
		ID: "QPS-INI-001", Name: "packet-before-rtr", Severity: Error, Needs: WireQP, Ref: "10.3.1",
		Text:  "A queue pair that has not come to RTR sends nothing: what arrives is dropped silently.",
		Where: "cq/qp_state_wire.go",
	},
	QPSRTR001 - qpsFirst: {
		ID: "QPS-RTR-001", Name: "send-before-rts", Severity: Error, Needs: WireQP, Ref: "10.3.1",
		Text:  "A queue pair that has not come to RTS sends no request.",
		Where: "cq/qp_state_wire.go",
	},
	QPSERR001 - qpsFirst: {
		ID: "QPS-ERR-001", Name: "packet-in-error", Severity: Error, Needs: WireQP, Ref: "10.3.1",
		Text:  "In ERR nothing is sent any more, no request and no acknowledgement.",
		Where: "cq/qp_state_wire.go",
	},
	QPSERR002 - qpsFirst: {
		ID: "QPS-ERR-002", Name: "flush-status", Severity: Error, Needs: Verbs, Ref: "C10-96",
		Text:  "In ERR every outstanding and newly posted request completes with WR_FLUSH_ERR; only the one that failed has a status of its own.",
		Where: "cq/completion_order.go",
	},
	QPSATT001 - qpsFirst: {
		ID: "QPS-ATT-001", Name: "path-mtu-value", Severity: Error, Needs: Verbs, Ref: "11.2.5.2†",
		Text:  "The path MTU is 256, 512, 1024, 2048 or 4096 bytes; another value is refused.",
		Where: "qp/value.go",
	},
	QPSATT003 - qpsFirst: {
		ID: "QPS-ATT-003", Name: "retry-value", Severity: Error, Needs: Verbs, Ref: "11.2.5.2†",
		Text:  "The RNR timer and the ACK timeout are codes up to 31, the retry counts at most 7; other values are refused.",
		Where: "qp/value.go",
	},
	QPSATT005 - qpsFirst: {
		ID: "QPS-ATT-005", Name: "migration-state-value", Severity: Error, Needs: Verbs, Ref: "17.2.8",
		Text:  "The consumer sets the path migration state to MIGRATED or REARM; ARMED is the device's own to set.",
		Where: "qp/value.go",
	},
	QPSATT006 - qpsFirst: {
		ID: "QPS-ATT-006", Name: "psn-value", Severity: Warning, Needs: Verbs, Ref: "11.2.5.2†",
		Text:  "A start PSN has 24 bits, and so has the number of the peer's queue pair.",
		Where: "qp/value.go",
	},
	QPSSQD002 - qpsFirst: {
		ID: "QPS-SQD-002", Name: "drained-event", Severity: Warning, Needs: Verbs, Ref: "10.3.1",
		Text:  "The event that the send queue has drained comes once when the transition to SQD has asked for it and all that was begun is finished, and only then.",
		Where: "cq/notify.go",
	},
	QPSACT001 - qpsFirst: {
		ID: "QPS-ACT-001", Name: "operation-not-enabled", Severity: Error, Needs: WireQP, Ref: "9.7.4.1†",
		Text:  "A request of a kind that the queue pair does not permit its peer is refused.",
		Where: "cq/memory.go",
	},
	QPSSQD001 - qpsFirst: {
		ID: "QPS-SQD-001", Name: "begins-in-sqd", Severity: Error, Needs: WireQP, Ref: "10.3.1",
		Text:  "In SQD no message begins; those begun before are finished.",
		Where: "cq/sqd.go",
	},
	QPSRTR002 - qpsFirst: {
		ID: "QPS-RTR-002", Name: "communication-established", Severity: Info, Needs: Verbs, Ref: "o11-5.1.1",
		Text:  "The first packet that comes in RTR gives an event, on services with a connection; there is one at most.",
		Where: "cq/communication_established.go",
	},
	QPSRTS001 - qpsFirst: {
		ID: "QPS-RTS-001", Name: "request-too-soon", Severity: Error, Needs: WireQP, Ref: "10.3.1",
		Text:   "A queue pair sends no request before it comes to RTS.",
		NotWhy: "Judged as QPS-INI-001, QPS-RTR-001, QPS-SQD-001, QPS-SQE-001 and QPS-ERR-001, by the state that the queue pair is in.",
	},
	QPSSQE001 - qpsFirst: {
		ID: "QPS-SQE-001", Name: "packet-in-sqe", Severity: Error, Needs: WireCQE, Ref: "C10-38",
		Text:  "In SQE no request is sent; what is posted is flushed.",
		Where: "cq/sqd.go",
	},
	QPSPSN001 - qpsFirst: {
		ID: "QPS-PSN-001", Name: "start-psns", Severity: Error, Needs: WireQP, Ref: "10.2†",
		Text:   "The first request has the send PSN of the queue pair, and the first that it expects has the receive PSN.",
		NotWhy: "Judged as RC-PSN-001 and UD-PSN-002; what a responder expects shows in its answers, which RC-RSP-002, -006, -017 and -029 judge.",
	},
	QPSATT002 - qpsFirst: {
		ID: "QPS-ATT-002", Name: "read-resources-value", Severity: Error, Needs: Verbs, Ref: "11.2.5.2†",
		Text:  "Initiator depth and responder resources of a queue pair are at most those of the device; greater values are refused.",
		Where: "qp/value.go",
	},
	QPSATT004 - qpsFirst: {
		ID: "QPS-ATT-004", Name: "port-value", Severity: Error, Needs: Verbs, Ref: "11.2.5.2†",
		Text:  "The port is one of the device, and the P_Key index is inside its table; other values are refused.",
		Where: "qp/value.go",
	},
	QPSMC001 - qpsFirst: {
		ID: "QPS-MC-001", Name: "destroyed-attached", Severity: Warning, Needs: Verbs, Ref: "o10-2.2.3",
		Text:  "A queue pair that is attached to a multicast group is not destroyed.",
		Where: "cq/state.go",
	},
	QPSNEW001 - qpsFirst: {
		ID: "QPS-NEW-001", Name: "number-used-again", Severity: Warning, Needs: Wire, Ref: "12.9.8.4†",
		Text:   "A queue pair whose number was used before takes no packet of the former connection: another start PSN and a time of waiting keep the two apart.",
		NotWhy: "Judged as CM-SM-012, which tells the two connections apart; and where a QP accepts a packet of its previous connection, as RC-RSP-002 and RC-RSP-006, on its answer.",
	},
	QPSDST001 - qpsFirst: {
		ID: "QPS-DST-001", Name: "last-request-taken", Severity: Warning, Needs: Verbs, Ref: "10.3.1",
		Text:  "A queue pair that has a shared receive queue tells once, in ERR, that it takes no more requests.",
		Where: "cq/sharedqueue.go",
	},
}
