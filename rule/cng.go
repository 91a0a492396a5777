package rule

// Congestion management.
const (
	CNGCNP001 ID = iota + cngFirst
	CNGCNP002
	CNGCNP003
	CNGCNP004
	CNGCNP005
	CNGCNP006
	CNGCNP007
	CNGCNP008
	CNGRP001
	CNGRP002
	CNGRP003
	CNGECN001
	CNGECN002
	CNGIB001
	CNGIB002
	CNGIB003
	CNGIB004
	CNGIB005
	CNGIB006
	CNGPFC001

	cmFirst
)

var cngRows = [cmFirst - cngFirst]Row{
	CNGCNP001 - cngFirst: {
		ID: "CNG-CNP-001", Name: "cnp-missing", Severity: Error, Needs: Wire, Ref: "CA17-44",
		Text:  "A receiver whose congestion notification is on sends a CNP to the source of a RoCEv2 packet that comes with ECN 11; one CNP may tell of several marks. Adapters space their CNPs: by QP, by address or by port.",
		Where: "verifier/congestion/congestion.go",
	},
	CNGCNP002 - cngFirst: {
		ID: "CNG-CNP-002", Name: "cnp-unfounded", Severity: Error, Needs: Wire, Ref: "CA17-44",
		Text:  "A CNP is sent only as the result of a packet of that QP which came with ECN 11.",
		Where: "verifier/congestion/cnp.go",
	},
	CNGCNP003 - cngFirst: {
		ID: "CNG-CNP-003", Name: "cnp-format", Severity: Error, Needs: Wire, Ref: "A17.9.3",
		Text:  "A CNP is opcode 0x81 with SE, MigReq, PadCnt, AckReq and PSN 0, the P_Key of the marked packets, the number of the QP that shall slow down, reserved bytes of 0, and ICRC.",
		Where: "verifier/header/service.go",
	},
	CNGCNP004 - cngFirst: {
		ID: "CNG-CNP-004", Name: "cnp-length", Severity: Error, Needs: Wire, Ref: "A17.9.3",
		Text:  "A CNP has 32 bytes after the UDP header: BTH, sixteen reserved ones, ICRC.",
		Where: "verifier/header/service.go",
	},
	CNGCNP005 - cngFirst: {
		// No public source confirms this row yet: it stays a warning until one does.
		ID: "CNG-CNP-005", Name: "cnp-for-cnp", Severity: Warning, Needs: Wire, Ref: "A17.9",
		Text:  "Nothing answers a CNP, and a mark on one makes no other.",
		Where: "verifier/congestion/cnp.go",
	},
	CNGCNP006 - cngFirst: {
		ID: "CNG-CNP-006", Name: "cnp-takes-psn", Severity: Error, Needs: Wire, Ref: "A17.9",
		Text:  "A CNP is no packet of the PSN stream of a QP: it takes no PSN.",
		Where: "verifier/congestion/congestion.go",
	},
	CNGCNP007 - cngFirst: {
		ID: "CNG-CNP-007", Name: "cnp-pace", Severity: Warning, Needs: Wire, Ref: "vendor",
		Text:  "At most one CNP is sent in the interval that the adapter is set to: to each QP, to each address, or in all. Intervals are 4 to 50 us where nobody has changed them.",
		Where: "verifier/congestion/cnp.go",
	},
	CNGCNP008 - cngFirst: {
		ID: "CNG-CNP-008", Name: "cnp-dscp", Severity: Info, Needs: Wire, Ref: "vendor",
		Text:  "CNPs have a DSCP of their own, which is configured. It is judged where a profile tells it.",
		Where: "verifier/congestion/cnp.go",
	},
	CNGRP001 - cngFirst: {
		ID: "CNG-RP-001", Name: "cnp-ignored", Severity: Warning, Needs: Wire, Ref: "CA17-45",
		Text:  "A sender lowers the rate of the QP that CNPs name: while they come one soon after the other, it sends slower.",
		Where: "verifier/congestion/cnp.go",
	},
	CNGRP002 - cngFirst: {
		ID: "CNG-RP-002", Name: "rate-recovery", Severity: Info, Needs: Wire, Ref: "CA17-46",
		Text:   "A sender should raise its rate again some time, or some bytes, after the last CNP.",
		NotWhy: "Should-level, and a sender that stays slow may have no more to send: its limit is inside it.",
	},
	CNGRP003 - cngFirst: {
		// No public source confirms this row yet: it stays a warning until one does.
		ID: "CNG-RP-003", Name: "rate-limit", Severity: Warning, Needs: WireQP, Ref: "A17",
		Text:   "A sender never exceeds the rate of its line, nor the static rate of its address vector.",
		NotWhy: "The rate of the line is not in any packet, and packets are stamped in bursts; RoCE ignores the static rate that CM tells, which is one of InfiniBand.",
	},
	CNGECN001 - cngFirst: {
		ID: "CNG-ECN-001", Name: "mark-not-capable", Severity: Error, Needs: Wire, Ref: "RFC 3168, A17.9",
		Text:  "The network marks only packets that are ECN-capable (01 or 10): it never turns 00 into 11.",
		Where: "verifier/congestion/congestion.go",
	},
	CNGECN002 - cngFirst: {
		ID: "CNG-ECN-002", Name: "ecn-of-answers", Severity: Info, Needs: Wire, Ref: "A17.9",
		Text:   "Whether CNPs and acknowledgements are sent ECN-capable is a policy of their sender.",
		NotWhy: "A permission: nothing can break it.",
	},
	CNGIB001 - cngFirst: {
		ID: "CNG-IB-001", Name: "fecn-at-source", Severity: Warning, Needs: Wire, Ref: "A10",
		Text:  "On InfiniBand a source sends FECN 0: it is the switches' to set.",
		Where: "verifier/header/service.go",
	},
	CNGIB002 - cngFirst: {
		ID: "CNG-IB-002", Name: "becn-missing", Severity: Warning, Needs: Wire, Ref: "A10",
		Text:  "On InfiniBand a destination returns FECN as BECN: on RC in the next response, on UC and UD in a CNP.",
		Where: "verifier/congestion/forward.go",
	},
	CNGIB003 - cngFirst: {
		ID: "CNG-IB-003", Name: "icrc-covers-fecn", Severity: Error, Needs: Wire, Ref: "7.8.1†, A10",
		Text:  "FECN and BECN, and the reserved bits beside them, are left out of the ICRC, so that switches can mark packets.",
		Where: "verifier/header/icrc.go",
	},
	CNGIB004 - cngFirst: {
		ID: "CNG-IB-004", Name: "becn-table-index", Severity: Info, Needs: Wire, Ref: "A10",
		Text:   "A source that gets BECN raises its index into the congestion control table, which a timer lowers; the delay between packets is in the table.",
		NotWhy: "The index is inside the source, and so is the time at which it would have sent without delay.",
	},
	CNGIB005 - cngFirst: {
		ID: "CNG-IB-005", Name: "congestion-log-age", Severity: Info, Needs: Wire, Ref: "CA10-49",
		Text:   "In the congestion log, entries older than two turns of the time stamp are reported as zero.",
		NotWhy: "A time stamp does not tell how often it has turned since: how old an entry is, is inside the port.",
	},
	CNGIB006 - cngFirst: {
		ID: "CNG-IB-006", Name: "congestion-mad-format", Severity: Warning, Needs: Wire, Ref: "A10",
		Text:  "A MAD of congestion control is class 0x21, version 2, with an attribute and a method of that class, which suit each other.",
		Where: "verifier/congestion/mad.go",
	},
	CNGPFC001 - cngFirst: {
		// No public source confirms this row yet: it stays a warning until one does.
		ID: "CNG-PFC-001", Name: "pfc-pause", Severity: Warning, Needs: Link, Ref: "IEEE 802.1Qbb",
		Text:  "After a pause frame of its priority, no RoCE frame is sent for as long as that says, but for the one in flight. Judged where a pcapng tells the speed of the link.",
		Where: "link/pause.go",
	},
}
