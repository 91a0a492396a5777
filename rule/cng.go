package rule

// Congestion management.
const (
	CNGCNP003 ID = iota + cngFirst

	cmFirst
)

var cngRows = [cmFirst - cngFirst]Row{
	CNGCNP003 - cngFirst: {
		ID: "CNG-CNP-003", Name: "cnp-format", Severity: Error, Needs: Wire, Ref: "A17.9.3",
		Text:  "A CNP is opcode 0x81 with SE, MigReq, PadCnt, AckReq and PSN 0, the P_Key of the marked packets, the number of the QP that shall slow down, sixteen reserved bytes of 0, and ICRC.",
		Where: "verifier/service.go",
	},
}
