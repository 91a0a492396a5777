package rule

// Partition and queue keys.
const (
	PKY001 ID = iota + pkyFirst
	PKY002
	PKY003
	PKY004
	PKY005
	PKY006
	PKY007
	PKY008
	PKY012

	reqFirst
)

var pkyRows = [reqFirst - pkyFirst]Row{
	PKY001 - pkyFirst: {
		ID: "PKY-001", Name: "pkey-valid", Severity: Error, Needs: Wire, Ref: "C10-116",
		Text:  "A P_Key whose low 15 bits are zero is invalid; bit 15 says full membership.",
		Where: "verifier/header/header.go",
	},
	PKY002 - pkyFirst: {
		ID: "PKY-002", Name: "pkey-match", Severity: Error, Needs: WireQP, Ref: "C9-43, 10.9.3",
		Text:  "The P_Key of a packet names the partition of the destination QP, and at least one of the two keys is a full member's.",
		Where: "verifier/header/flow.go",
	},
	PKY003 - pkyFirst: {
		ID: "PKY-003", Name: "pkey-mismatch-silent", Severity: Error, Needs: WireQP, Ref: "10.9.4, 14.3.8",
		Text:  "A packet whose P_Key does not match is dropped: the receiver answers nothing and counts a P_Key violation, perhaps with trap 257.",
		Where: "verifier/rc/foreign_partition.go",
	},
	PKY004 - pkyFirst: {
		ID: "PKY-004", Name: "pkey-sent", Severity: Error, Needs: WireQP, Ref: "10.9†",
		Text:  "A QP sends the P_Key of the table entry that it was set up with; QP 1 takes the entry named by the work request, QP 0 the default.",
		Where: "verifier/header/flow.go",
	},
	PKY005 - pkyFirst: {
		ID: "PKY-005", Name: "pkey-special-qp", Severity: Error, Needs: WireQP, Ref: "C9-41 (QP0), C9-42 (QP1)",
		Text:  "QP 1 takes any P_Key that matches one in the table of its port, and no other; QP 0 does not look at the P_Key.",
		Where: "verifier/gmp/response.go",
	},
	PKY006 - pkyFirst: {
		ID: "PKY-006", Name: "pkey-limited-members", Severity: Error, Needs: WireQP, Ref: "10.9.3",
		Text:  "Two limited members of a partition do not talk to each other.",
		Where: "verifier/header/flow.go",
	},
	PKY007 - pkyFirst: {
		ID: "PKY-007", Name: "pkey-table-duplicate", Severity: Warning, Needs: Wire, Ref: "10.9†",
		Text:  "The P_Key table of a port does not hold the full and the limited key of one partition at once.",
		Where: "verifier/ud/smp.go",
	},
	PKY008 - pkyFirst: {
		ID: "PKY-008", Name: "pkey-default", Severity: Warning, Needs: WireQP, Ref: "10.9.1.2",
		Text:  "The default P_Key is 0xFFFF (full) or 0x7FFF (limited); a port in use has it in its table. Where a manager sets the table, SMP-PK-002 says so; RoCE shows no table.",
		Where: "verifier/smp/table_response.go",
	},
	PKY012 - pkyFirst: {
		ID: "PKY-012", Name: "qkey-privileged", Severity: Warning, Needs: WireQP, Ref: "10.2.5",
		Text:  "A Q_Key with its high bit set belongs to privileged software: a user's QP sends it only if it is the QP's own.",
		Where: "verifier/ud/ud.go",
	},
}
