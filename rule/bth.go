package rule

// Base transport header.
const (
	BTH001 ID = iota
	BTH002
	BTH003
	BTH004
	BTH005
	BTH006
	BTH007
	BTH008
	BTH009
	BTH010
	BTH011
	BTH012
	BTH013
	BTH014
	BTH015
	BTH016
	BTH017
	BTH018
	BTH019

	netFirst
)

var bthRows = [netFirst]Row{
	BTH001: {
		ID: "BTH-001", Name: "bth-format", Severity: Error, Needs: Wire, Ref: "9.2",
		Text:  "The base transport header is 12 bytes: opcode; SE, M, PadCnt, TVer; P_Key; FECN, BECN and six reserved bits; destination QP; AckReq and seven reserved bits; PSN. A packet has room for it and the ICRC.",
		Where: "verifier/header/format.go",
	},
	BTH002: {
		ID: "BTH-002", Name: "bth-version", Severity: Error, Needs: Wire, Ref: "9.6.1.1†",
		Text:  "TVer is 0. A receiver drops a packet with another transport version without answering it.",
		Where: "verifier/header/header.go",
	},
	BTH003: {
		ID: "BTH-003", Name: "bth-opcode-defined", Severity: Error, Needs: Wire, Ref: "9.2.1†",
		Text:  "The opcode is one that the architecture defines. An RC responder answers an undefined one with NAK Invalid Request if it has the expected PSN; everyone else drops it.",
		Where: "verifier/header/header.go",
	},
	BTH004: {
		ID: "BTH-004", Name: "bth-opcode-service", Severity: Error, Needs: WireQP, Ref: "9.6.1.1.4†",
		Text:  "The service in the upper three bits of the opcode is that of the destination QP. A receiver drops a packet of another service without answering it.",
		Where: "verifier/service.go",
	},
	BTH005: {
		ID: "BTH-005", Name: "bth-destination-state", Severity: Error, Needs: WireQP, Ref: "9.6.1.1†",
		Text:   "The destination QP exists and can receive: RTR, RTS, SQD or SQE for requests, RTS or SQD for responses. A QP in any other state answers nothing.",
		NotWhy: "Judged as CM-SM-012 and CM-SM-016 where the communication manager shows the state of a QP, and as QPS-INI-001, QPS-RTR-001 and QPS-ERR-001 where verbs events do.",
	},
	BTH006: {
		ID: "BTH-006", Name: "bth-pad-count", Severity: Error, Needs: Wire, Ref: "9.2.3†",
		Text:  "PadCnt is the number of bytes, 0 to 3, that bring the payload to a multiple of four.",
		Where: "verifier/header/header.go",
	},
	BTH007: {
		ID: "BTH-007", Name: "bth-pad-forbidden", Severity: Error, Needs: Wire, Ref: "9.2.3†",
		Text:  "PadCnt is 0 in First and Middle packets, which are full, and in packets that carry no payload (READ requests, atomics, ACKs).",
		Where: "verifier/header/header.go",
	},
	BTH008: {
		ID: "BTH-008", Name: "bth-pad-zero", Severity: Info, Needs: Wire, Ref: "9.2.3†",
		Text:  "Pad bytes should be zero.",
		Where: "verifier/header/header.go",
	},
	BTH009: {
		ID: "BTH-009", Name: "bth-reserved-bits", Severity: Warning, Needs: Wire, Ref: "9.2",
		Text:  "The six reserved bits beside FECN and BECN and the seven beside AckReq are sent as 0 and ignored by the receiver.",
		Where: "verifier/header/header.go",
	},
	BTH010: {
		ID: "BTH-010", Name: "bth-special-qp", Severity: Error, Needs: Wire, Ref: "9.2",
		Text:  "Destination QP 0 is the subnet management interface and takes only UD SEND Only, 1 is the general services interface, 0xFFFFFF is multicast.",
		Where: "verifier/header/header.go",
	},
	BTH011: {
		ID: "BTH-011", Name: "bth-destination-qp", Severity: Error, Needs: WireQP, Ref: "9.2",
		Text:  "On a connection every packet names the QP number that the other side gave when the connection was made.",
		Where: "verifier/header/address.go",
	},
	BTH012: {
		ID: "BTH-012", Name: "bth-solicited-event", Severity: Error, Needs: Wire, Ref: "9.2.3†",
		Text:  "SE is set only in the Last or Only packet of a SEND or of a WRITE with immediate; it is 0 in all other requests and in responses. Whether the work request asked for it is not on the wire.",
		Where: "verifier/header/header.go",
	},
	BTH013: {
		ID: "BTH-013", Name: "bth-migreq", Severity: Warning, Needs: WireQP, Ref: "17.2.8",
		Text:  "MigReq follows the migration state of the QP: 1 when migrated, 0 while armed or rearming; 0 in a CNP. Without path migration devices differ, so only a change within a connection counts.",
		Where: "verifier/header/flow.go",
	},
	BTH014: {
		ID: "BTH-014", Name: "bth-migration", Severity: Warning, Needs: WireQP, Ref: "9.6.1.5, 17.2.8",
		Text:   "When a request with MigReq set arrives over the alternate path of an armed QP, the QP migrates to that path; MigReq clear takes a rearming QP to armed.",
		NotWhy: "The alternate path has addresses of its own, so that its packets are another connection to the witness; and it may be given to a QP without a word of CM, so that a REQ without one proves nothing. The M bit itself is judged by BTH-013 and UC-MIG-001.",
	},
	BTH015: {
		ID: "BTH-015", Name: "bth-ackreq-misplaced", Severity: Warning, Needs: Wire, Ref: "9.7.5†",
		Text:  "AckReq is set only in requests of RC, RD and XRC. It is 0 in every response and in all UC and UD packets.",
		Where: "verifier/header/header.go",
	},
	BTH016: {
		ID: "BTH-016", Name: "bth-roce-ecn-bits", Severity: Info, Needs: Wire, Ref: "CA17-29",
		Text:  "On RoCEv2 FECN and BECN are 0, and receivers ignore them; only the CNPs of some vendors set BECN.",
		Where: "verifier/header/header.go",
	},
	BTH017: {
		ID: "BTH-017", Name: "bth-psn-arithmetic", Severity: Error, Needs: Wire, Ref: "9.7.1†",
		Text:   "PSNs count modulo 2^24, so that 0 follows 0xFFFFFF; which of two is later is decided by their signed 24-bit difference.",
		NotWhy: "Judged as RC-PSN-002, RC-PSN-004 and UC-PSN-001 where the count wraps: a definition that they judge by.",
	},
	BTH018: {
		ID: "BTH-018", Name: "bth-packet-too-short", Severity: Error, Needs: Wire, Ref: "9.6†",
		Text:  "A packet holds all headers of its opcode, its pad and its ICRC. A receiver drops a shorter one.",
		Where: "verifier/header/format.go",
	},
	BTH019: {
		ID: "BTH-019", Name: "bth-source-lid", Severity: Error, Needs: WireQP, Ref: "9.6.1.5",
		Text:  "On a connected QP packets come from the LID, and in through the port, that its address vector names; the receiver drops others.",
		Where: "verifier/header/address.go",
	},
}
