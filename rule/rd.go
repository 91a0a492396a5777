package rule

// RD transport.
const (
	RDRDD001 ID = iota + rdFirst
	RDOPC001
	RDHDR001
	RDHDR002
	RDNAK001

	lnkFirst
)

var rdRows = [lnkFirst - rdFirst]Row{
	RDRDD001 - rdFirst: {
		ID: "RD-RDD-001", Name: "rd-domain", Severity: Error, Needs: WireCQE, Ref: "10.2†",
		Text:   "A queue pair and the end-to-end context that it is reached by have the same reliable datagram domain.",
		NotWhy: "The domain is on no wire, and verbs events know no end-to-end contexts: no current interface has any.",
	},
	RDOPC001 - rdFirst: {
		ID: "RD-OPC-001", Name: "rd-opcode", Severity: Error, Needs: Wire, Ref: "Table 38",
		Text:  "The opcodes of RD are 0x40 to 0x55, and 0x5C for FLUSH; the others from 0x56 to 0x5F are reserved.",
		Where: "verifier/format.go",
	},
	RDHDR001 - rdFirst: {
		ID: "RD-HDR-001", Name: "rd-rdeth", Severity: Error, Needs: Wire, Ref: "9.2",
		Text:  "The RDETH, a reserved byte of 0 and the end-to-end context of the receiver, follows the BTH in every packet of RD, requests and responses.",
		Where: "verifier/format.go",
	},
	RDHDR002 - rdFirst: {
		ID: "RD-HDR-002", Name: "rd-deth", Severity: Error, Needs: Wire, Ref: "9.2, Table 38",
		Text:  "A request on RD has a DETH behind its RDETH, a response has none.",
		Where: "verifier/format.go",
	},
	RDNAK001 - rdFirst: {
		// An error once a public source confirms it; a warning until then.
		ID: "RD-NAK-001", Name: "rd-nak-elsewhere", Severity: Warning, Needs: Wire, Ref: "Table 46",
		Text:  "NAK Invalid RD Request, code 4, is sent on RD alone; on RC, RC-RSP-021 says so.",
		Where: "verifier/format.go",
	},
}
