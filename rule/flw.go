package rule

// FLUSH and ATOMIC WRITE.
const (
	FLW003 ID = iota + flwFirst
	FLW007
	FLW001
	FLW002
	FLW004
	FLW005
	FLW006
	FLW008
	FLW009

	xrcFirst
)

var flwRows = [xrcFirst - flwFirst]Row{
	FLW003 - flwFirst: {
		ID: "FLW-003", Name: "flush-access", Severity: Error, Needs: WireMem, Ref: "oA19-13",
		Text:  "A FLUSH whose kind of placement the region does not permit is refused with NAK Remote Access Error.",
		Where: "cq/memory.go",
	},
	FLW007 - flwFirst: {
		ID: "FLW-007", Name: "atomic-write-access", Severity: Error, Needs: WireMem, Ref: "oA19-28",
		Text:  "An ATOMIC WRITE that its R_Key does not permit is refused with NAK Remote Access Error, one that is misaligned with NAK Invalid Request.",
		Where: "cq/memory.go",
	},
	FLW001 - flwFirst: {
		ID: "FLW-001", Name: "flush-format", Severity: Error, Needs: Wire, Ref: "A19",
		Text:  "A FLUSH has FETH and RETH and no payload. The selectivity in its FETH is 0 (a range) or 1 (the region), its placement types are 1 (visible to all) and 2 (persistent), the rest is 0.",
		Where: "verifier/rc/flush.go",
	},
	FLW002 - flwFirst: {
		ID: "FLW-002", Name: "flush-response", Severity: Error, Needs: Wire, Ref: "A19",
		Text:  "A FLUSH takes one PSN, and is answered by one RDMA READ Response Only without payload.",
		Where: "verifier/rc/flush.go",
	},
	FLW004 - flwFirst: {
		ID: "FLW-004", Name: "flush-duplicate", Severity: Warning, Needs: Wire, Ref: "A19",
		Text:  "A duplicate FLUSH is answered again, as a duplicate READ is.",
		Where: "verifier/rc/flush.go",
	},
	FLW005 - flwFirst: {
		ID: "FLW-005", Name: "atomic-write-format", Severity: Error, Needs: Wire, Ref: "A19.4.2",
		Text:  "An ATOMIC WRITE has 8 bytes of payload and DMALen 8, and its address is on an 8-byte boundary.",
		Where: "verifier/rc/flush.go",
	},
	FLW006 - flwFirst: {
		ID: "FLW-006", Name: "atomic-write-response", Severity: Error, Needs: Wire, Ref: "A19",
		Text:  "An ATOMIC WRITE is answered by one RDMA READ Response Only without payload.",
		Where: "verifier/rc/flush.go",
	},
	FLW008 - flwFirst: {
		ID: "FLW-008", Name: "atomic-write-outstanding", Severity: Warning, Needs: WireQP, Ref: "A19",
		Text:  "An ATOMIC WRITE counts as a READ does: no more are outstanding than the peer has resources for.",
		Where: "verifier/rc/request.go",
	},
	FLW009 - flwFirst: {
		ID: "FLW-009", Name: "atomic-write-enabled", Severity: Error, Needs: WireQP, Ref: "A19",
		Text:  "A queue pair that does not permit its peer to write refuses an ATOMIC WRITE.",
		Where: "cq/memory.go",
	},
}
