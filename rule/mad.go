package rule

// Management datagrams of all classes.
const (
	MADFMT001 ID = iota + madFirst
	MADFMT002
	MADFMT003
	MADFMT004
	MADFMT005
	MADMTH001
	MADMTH002
	MADTID001
	MADTID002
	MADSTS001
	MADSTS002
	MADTMO001
	MADTMO002
	MADCPI001
	MADRED001
	MADPM001
	MADINF001
	MADINF002
	MADINF003
	MADINF004

	saFirst
)

var madRows = [saFirst - madFirst]Row{
	MADFMT001 - madFirst: {
		ID: "MAD-FMT-001", Name: "mad-version", Severity: Error, Needs: Wire, Ref: "13.4.3",
		Text:  "Every management datagram is 256 bytes, and its header says base version 1; the classes of performance and device management are of class version 1.",
		Where: "verifier/gmp/header.go",
	},
	MADFMT002 - madFirst: {
		ID: "MAD-FMT-002", Name: "mad-reserved", Severity: Warning, Needs: Wire, Ref: "13.4.2",
		Text:  "The reserved bytes 18 and 19 of a management datagram are 0.",
		Where: "verifier/gmp/header.go",
	},
	MADFMT003 - madFirst: {
		ID: "MAD-FMT-003", Name: "mad-class-qp", Severity: Error, Needs: Wire, Ref: "13.5†",
		Text:  "Subnet management (classes 0x01 and 0x81) is only on QP0, every other class on QP1 or where it was redirected.",
		Where: "verifier/gmp/header.go",
	},
	MADFMT004 - madFirst: {
		ID: "MAD-FMT-004", Name: "mad-class", Severity: Warning, Needs: Wire, Ref: "13.4.4",
		Text:  "The management class is one that is defined, or of a range for vendors and applications.",
		Where: "verifier/gmp/header.go",
	},
	MADFMT005 - madFirst: {
		ID: "MAD-FMT-005", Name: "mad-vendor-oui", Severity: Warning, Needs: Wire, Ref: "13.4.4",
		Text:  "The vendor classes 0x30 to 0x4F carry the OUI of the vendor after the RMPP header.",
		Where: "verifier/gmp/header.go",
	},
	MADMTH001 - madFirst: {
		ID: "MAD-MTH-001", Name: "mad-method", Severity: Error, Needs: Wire, Ref: "13.4.5",
		Text:  "The method is one that the class has, and a response has the method that answers its request.",
		Where: "verifier/gmp/header.go",
	},
	MADMTH002 - madFirst: {
		ID: "MAD-MTH-002", Name: "mad-response-bit", Severity: Error, Needs: Wire, Ref: "13.4.5",
		Text:  "The R bit is set only in responses; Set, Send, Trap, TrapRepress and GetTraceTable never have it.",
		Where: "verifier/gmp/header.go",
	},
	MADTID001 - madFirst: {
		ID: "MAD-TID-001", Name: "mad-transaction", Severity: Error, Needs: Wire, Ref: "C13-19.1.1",
		Text:  "A request has one response, with its transaction ID, attribute and modifier, and no two outstanding requests of a class share a transaction ID.",
		Where: "verifier/gmp/exchange.go",
	},
	MADTID002 - madFirst: {
		ID: "MAD-TID-002", Name: "mad-response-path", Severity: Error, Needs: Wire, Ref: "13.5.4",
		Text:  "A response comes from the address and QP that were asked, and goes to those that asked, with the P_Key and SL of the request, and with a GRH exactly where the request had one.",
		Where: "verifier/gmp/response.go",
	},
	MADSTS001 - madFirst: {
		ID: "MAD-STS-001", Name: "mad-status", Severity: Error, Needs: Wire, Ref: "13.4.7",
		Text:  "A request has status 0; a response has a status code that is defined, and reserved bits of 0.",
		Where: "verifier/gmp/header.go",
	},
	MADSTS002 - madFirst: {
		ID: "MAD-STS-002", Name: "mad-refusal", Severity: Error, Needs: Wire, Ref: "13.4.7",
		Text:  "What a responder does not support (version, method, attribute) it refuses with the status for that and unchanged data; it does not drop it.",
		Where: "verifier/gmp/response.go",
	},
	MADTMO001 - madFirst: {
		ID: "MAD-TMO-001", Name: "mad-response-time", Severity: Warning, Needs: Wire, Ref: "C13-13.1.1",
		Text:  "A responder answers within the response time of its ClassPortInfo, code 20 (4.3 s) where it told none.",
		Where: "verifier/gmp/response.go",
	},
	MADTMO002 - madFirst: {
		ID: "MAD-TMO-002", Name: "mad-early-repeat", Severity: Warning, Needs: Wire, Ref: "13.4.6.3†",
		Text:  "A requester does not repeat a request before the responder's time is over, and repeats it with its transaction ID.",
		Where: "verifier/gmp/exchange.go",
	},
	MADCPI001 - madFirst: {
		ID: "MAD-CPI-001", Name: "class-port-info", Severity: Warning, Needs: Wire, Ref: "13.4.8.1",
		Text:  "Every class answers Get(ClassPortInfo), with the versions that its header has.",
		Where: "verifier/gmp/transactions.go",
	},
	MADRED001 - madFirst: {
		ID: "MAD-RED-001", Name: "mad-redirect", Severity: Info, Needs: Wire, Ref: "13.5.2†",
		Text:  "A response that redirects says to which QP and LID or GID, and requests of the class then go there.",
		Where: "verifier/gmp/transactions.go",
	},
	MADPM001 - madFirst: {
		ID: "MAD-PM-001", Name: "port-counters", Severity: Warning, Needs: Wire, Ref: "16.1†",
		Text:  "Counters are those of the port that was asked for, which the node has; they stay at their greatest value: none begins again from 0 by itself.",
		Where: "verifier/gmp/performance.go",
	},
	MADINF001 - madFirst: {
		ID: "MAD-INF-001", Name: "inform-confirmed", Severity: Error, Needs: Wire, Ref: "o13-12.1.1, o13-13.1.1",
		Text:  "A subscription is confirmed by its InformInfo as it came, and refused by the same with subscribe 0.",
		Where: "verifier/gmp/inform.go",
	},
	MADINF002 - madFirst: {
		ID: "MAD-INF-002", Name: "unsubscribe-qpn", Severity: Warning, Needs: Wire, Ref: "o13-2.1.1",
		Text:  "Who ends a subscription gives the QPN of it.",
		Where: "verifier/gmp/inform.go",
	},
	MADINF003 - madFirst: {
		ID: "MAD-INF-003", Name: "inform-partition", Severity: Warning, Needs: Wire, Ref: "o13-14.1.1, o13-17.1.1, o13-17.1.2",
		Text:  "Reports go only to subscribers that share a partition with the source of the trap, unless they subscribed to the traps of all LIDs.",
		Where: "verifier/gmp/inform.go",
	},
	MADINF004 - madFirst: {
		ID: "MAD-INF-004", Name: "report-target", Severity: Warning, Needs: Wire, Ref: "13.4.9",
		Text:  "A report goes to the QP of the subscription or to QP1, and is answered by ReportResp.",
		Where: "verifier/gmp/inform.go",
	},
}
