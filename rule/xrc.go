package rule

// XRC and RD transport.
const (
	XRCSRQ001 ID = iota + xrcFirst
	XRCRNR001

	rdFirst
)

var xrcRows = [rdFirst - xrcFirst]Row{
	XRCSRQ001 - xrcFirst: {
		// An error once a public source confirms it; a warning until then.
		ID: "XRC-SRQ-001", Name: "xrc-receive-queue", Severity: Warning, Needs: WireCQE, Ref: "A14",
		Text:  "A message on XRC takes a receive request of the shared receive queue that it names, and is refused where there is none of that number.",
		Where: "cq/xrc.go",
	},
	XRCRNR001 - xrcFirst: {
		ID: "XRC-RNR-001", Name: "xrc-attributes", Severity: Error, Needs: Verbs, Ref: "A14",
		Text:   "The minimum RNR timer is an attribute of the target alone, retry counts are those of the initiator.",
		NotWhy: "Judged as QPS-TRN-002 and QPS-TRN-003.",
	},
}

const (
	RDRDD001 ID = iota + rdFirst

	lnkFirst
)

var rdRows = [lnkFirst - rdFirst]Row{
	RDRDD001 - rdFirst: {
		ID: "RD-RDD-001", Name: "rd-domain", Severity: Error, Needs: WireCQE, Ref: "10.2†",
		Text:   "A queue pair and the end-to-end context that it is reached by have the same reliable datagram domain.",
		NotWhy: "RD is not followed.",
	},
}
