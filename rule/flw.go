package rule

// FLUSH and ATOMIC WRITE.
const (
	FLW003 ID = iota + flwFirst
	FLW007

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
}
