package rule

// The reliable multi-packet protocol.
const (
	MADRMP001 ID = iota + rmppFirst
	MADRMP002
	MADRMP003
	MADRMP004
	MADRMP005
	MADRMP006
	MADRMP007
	MADRMP008
	MADRMP009
	MADRMP010
	MADRMP011

	qpsFirst
)

var rmppRows = [qpsFirst - rmppFirst]Row{
	MADRMP001 - rmppFirst: {
		ID: "MAD-RMP-001", Name: "rmpp-header", Severity: Error, Needs: Wire, Ref: "13.6.2†",
		Text:  "In a transfer of several datagrams the RMPP header is of version 1 and of type DATA, ACK, STOP or ABORT.",
		Where: "verifier/gmp/rmpp.go",
	},
	MADRMP002 - rmppFirst: {
		ID: "MAD-RMP-002", Name: "rmpp-first", Severity: Error, Needs: Wire, Ref: "13.6.2.2",
		Text:  "Segments are numbered from 1, and only segment 1 has the First flag.",
		Where: "verifier/gmp/rmpp_segment.go",
	},
	MADRMP003 - rmppFirst: {
		ID: "MAD-RMP-003", Name: "rmpp-order", Severity: Error, Needs: Wire, Ref: "13.6†",
		Text:  "Segments follow each other, the last one has the Last flag, and none follows it.",
		Where: "verifier/gmp/rmpp_segment.go",
	},
	MADRMP004 - rmppFirst: {
		ID: "MAD-RMP-004", Name: "rmpp-length", Severity: Error, Needs: Wire, Ref: "13.6.2.2",
		Text:  "The first segment tells the length of the whole payload or 0, the last one the bytes in it, class header included.",
		Where: "verifier/gmp/rmpp_segment.go",
	},
	MADRMP005 - rmppFirst: {
		ID: "MAD-RMP-005", Name: "rmpp-window", Severity: Error, Needs: Wire, Ref: "13.6.3†",
		Text:  "No segment above the NewWindowLast of the newest acknowledgement is sent; in the beginning this is 1.",
		Where: "verifier/gmp/rmpp_segment.go",
	},
	MADRMP006 - rmppFirst: {
		ID: "MAD-RMP-006", Name: "rmpp-ack", Severity: Error, Needs: Wire, Ref: "13.6†",
		Text:  "An acknowledgement names a segment that was sent, and a NewWindowLast that is not below it nor below the one before.",
		Where: "verifier/gmp/rmpp.go",
	},
	MADRMP007 - rmppFirst: {
		ID: "MAD-RMP-007", Name: "rmpp-direction", Severity: Error, Needs: Wire, Ref: "13.6†",
		Text:  "ACK, STOP and ABORT have the transaction ID of the DATA that they are to, and the other R bit.",
		Where: "verifier/gmp/rmpp.go",
	},
	MADRMP008 - rmppFirst: {
		ID: "MAD-RMP-008", Name: "rmpp-status", Severity: Error, Needs: Wire, Ref: "13.6.2.1",
		Text:  "DATA and ACK have status 0, STOP has 1, ABORT 118 to 127.",
		Where: "verifier/gmp/rmpp.go",
	},
	MADRMP009 - rmppFirst: {
		ID: "MAD-RMP-009", Name: "rmpp-stopped", Severity: Warning, Needs: Wire, Ref: "13.6†",
		Text:  "After STOP or ABORT no segment of the transfer follows.",
		Where: "verifier/gmp/rmpp.go",
	},
	MADRMP010 - rmppFirst: {
		ID: "MAD-RMP-010", Name: "rmpp-absent", Severity: Warning, Needs: Wire, Ref: "13.6†",
		Text:  "Where no transfer is, the Active flag and the rest of the RMPP header are 0.",
		Where: "verifier/gmp/rmpp.go",
	},
	MADRMP011 - rmppFirst: {
		ID: "MAD-RMP-011", Name: "rmpp-again", Severity: Warning, Needs: Wire, Ref: "13.6.3†",
		Text:  "A retransmitted segment is identical, and none is retransmitted after the last one was acknowledged.",
		Where: "verifier/gmp/rmpp_segment.go",
	},
}
