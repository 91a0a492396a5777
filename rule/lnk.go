package rule

// Link layer, InfiniBand only.
const (
	LNKLRH002 ID = iota + lnkFirst
	LNKLRH003
	LNKLRH004
	LNKLRH005
	LNKLRH006
	LNKLID001
	LNKLID002
	LNKLID003
	LNKLID004
	LNKVL001
	LNKSL001
	LNKCRC001
	LNKCRC003
	LNKCRC004

	cngFirst
)

var lnkRows = [cngFirst - lnkFirst]Row{
	LNKLRH002 - lnkFirst: {
		ID: "LNK-LRH-002", Name: "lrh-version", Severity: Error, Needs: Wire, Ref: "ch.7",
		Text:  "The link version is 0; a port drops a packet of another version.",
		Where: "verifier/link.go",
	},
	LNKLRH003 - lnkFirst: {
		ID: "LNK-LRH-003", Name: "lrh-reserved", Severity: Warning, Needs: Wire, Ref: "7.7",
		Text:  "The reserved bits of the LRH (two beside LNH, five above PktLen) are sent as 0 and ignored by the receiver.",
		Where: "verifier/link.go",
	},
	LNKLRH004 - lnkFirst: {
		ID: "LNK-LRH-004", Name: "lrh-next-header", Severity: Error, Needs: Wire, Ref: "7.7",
		Text:   "LNH tells what follows the LRH: 0 raw with EtherType, 1 raw IPv6, 2 BTH, 3 GRH and BTH. A channel adapter's transport takes only 2 and 3.",
		NotWhy: "A definition: LNH is what the decoder goes by, and a wrong one breaks the ICRC.",
	},
	LNKLRH005 - lnkFirst: {
		ID: "LNK-LRH-005", Name: "lrh-packet-length", Severity: Error, Needs: Wire, Ref: "7.7",
		Text:  "PktLen counts the 4-byte words from LRH through ICRC, without the VCRC, and agrees with the packet.",
		Where: "verifier/icrc.go",
	},
	LNKLRH006 - lnkFirst: {
		ID: "LNK-LRH-006", Name: "lrh-packet-minimum", Severity: Error, Needs: Wire, Ref: "7.7",
		Text:  "PktLen is at least 6 words for a transport packet and 5 for a raw one.",
		Where: "verifier/link.go",
	},
	LNKLID001 - lnkFirst: {
		ID: "LNK-LID-001", Name: "lid-zero", Severity: Error, Needs: Wire, Ref: "4.1†",
		Text:  "No packet goes to LID 0.",
		Where: "verifier/link.go",
	},
	LNKLID002 - lnkFirst: {
		ID: "LNK-LID-002", Name: "lid-ranges", Severity: Error, Needs: Wire, Ref: "4.1.3",
		Text:   "LIDs 0x0001 to 0xBFFF are unicast, 0xC000 to 0xFFFE multicast, and 0xFFFF is the permissive one; each is used only as such.",
		NotWhy: "A definition: LNK-LID-001, -003, -004 and UD-MC-001 judge by it.",
	},
	LNKLID003 - lnkFirst: {
		ID: "LNK-LID-003", Name: "source-lid", Severity: Error, Needs: Wire, Ref: "4.1.3, 9.6.1.5",
		Text:  "The source LID is unicast, or 0xFFFF on QP 0 of a port that has no LID yet; it is never multicast and never 0.",
		Where: "verifier/link.go",
	},
	LNKLID004 - lnkFirst: {
		ID: "LNK-LID-004", Name: "permissive-lid", Severity: Error, Needs: Wire, Ref: "9.6.1.5.1, 13.5.3.1",
		Text:  "The permissive LID appears only in packets to QP 0, and these are directed-route management packets (class 0x81).",
		Where: "verifier/link.go",
	},
	LNKVL001 - lnkFirst: {
		ID: "LNK-VL-001", Name: "vl15-management-only", Severity: Error, Needs: Wire, Ref: "13.5.3.1, 7.6†",
		Text:  "VL 15 is for subnet management alone: every packet to QP 0 is on it, and no other packet is.",
		Where: "verifier/link.go",
	},
	LNKSL001 - lnkFirst: {
		ID: "LNK-SL-001", Name: "connection-service-level", Severity: Warning, Needs: WireQP, Ref: "9.6†",
		Text:  "What a connected QP sends, requests and responses alike, carries the service level of its address vector; with CM both ends have the one of the REQ.",
		Where: "verifier/flow.go",
	},
	LNKCRC001 - lnkFirst: {
		// An error once a public source confirms it; a warning until then.
		ID: "LNK-CRC-001", Name: "vcrc", Severity: Warning, Needs: Link, Ref: "7.8.2†",
		Text:  "The VCRC is right: each link computes it anew over LRH through ICRC, and a port drops a packet with a wrong one.",
		Where: "verifier/icrc.go",
	},
	LNKCRC003 - lnkFirst: {
		ID: "LNK-CRC-003", Name: "icrc-local", Severity: Error, Needs: Wire, Ref: "7.8.1†",
		Text:  "The ICRC of a packet without GRH is right: CRC-32 from LRH through pad, with VL and the fifth byte of the BTH (FECN, BECN, reserved) set to ones.",
		Where: "verifier/icrc.go",
	},
	LNKCRC004 - lnkFirst: {
		ID: "LNK-CRC-004", Name: "icrc-global", Severity: Error, Needs: Wire, Ref: "7.8.1†",
		Text:  "The ICRC of a packet with GRH is right: as for a local packet, with the whole LRH and the GRH's traffic class, flow label and hop limit set to ones too.",
		Where: "verifier/icrc.go",
	},
}
