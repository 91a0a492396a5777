package rule

// UD transport.
const (
	UDOPC001 ID = iota + udFirst
	UDHDR001
	UDHDR002
	UDHDR003
	UDLEN001
	UDPSN001
	UDPSN002
	UDACK001
	UDQKEY001
	UDQKEY003
	UDMC001
	UDMC002
	UDMC004
	UDQP0001
	UDQP0002
	UDQP1001
	UDQP1002
	UDPKY001
	UDGRH002
	UDGRH004
	UDCQE001
	UDQKEY004
	UDLEN002
	UDLEN003
	UDQKEY002
	UDRWQE001
	UDGRH001
	UDGRH003
	UDMC003
	UDAH001
	UDMC005

	rocFirst
)

var udRows = [rocFirst - udFirst]Row{
	UDOPC001 - udFirst: {
		ID: "UD-OPC-001", Name: "ud-opcode", Severity: Error, Needs: Wire, Ref: "Table 38",
		Text:  "UD has two opcodes, SEND Only (0x64) and SEND Only with immediate (0x65); the rest of 0x60 to 0x7F is reserved.",
		Where: "verifier/header/service.go",
	},
	UDHDR001 - udFirst: {
		ID: "UD-HDR-001", Name: "ud-deth", Severity: Error, Needs: Wire, Ref: "9.2",
		Text:  "The 8-byte DETH (Q_Key, a reserved byte, source QP) follows the BTH, and immediate data follows the DETH.",
		Where: "verifier/header/format.go",
	},
	UDHDR002 - udFirst: {
		ID: "UD-HDR-002", Name: "ud-deth-reserved", Severity: Warning, Needs: Wire, Ref: "9.2",
		Text:  "The reserved byte of the DETH is sent as 0 and ignored by the receiver.",
		Where: "verifier/header/service.go",
	},
	UDHDR003 - udFirst: {
		// An error once a public source confirms it; a warning until then.
		ID: "UD-HDR-003", Name: "ud-source-qp", Severity: Warning, Needs: WireQP, Ref: "9.8.3†",
		Text:  "The source QP in the DETH is the number of the QP that sent the packet. Of most QPs it is learned from this very field; subnet management comes from QP 0, and nothing else does.",
		Where: "verifier/header/service.go",
	},
	UDLEN001 - udFirst: {
		ID: "UD-LEN-001", Name: "ud-length", Severity: Error, Needs: WireQP, Ref: "9.8.3†",
		Text:  "A UD message is one packet, and its payload is at most the MTU of the path.",
		Where: "verifier/ud/ud.go",
	},
	UDPSN001 - udFirst: {
		ID: "UD-PSN-001", Name: "ud-psn", Severity: Info, Needs: Wire, Ref: "9.8.3†",
		Text:  "A UD sender counts its PSN up packet by packet, but no receiver looks at it: gaps and repeats are legal.",
		Where: "verifier/ud/psn.go",
	},
	UDPSN002 - udFirst: {
		ID: "UD-PSN-002", Name: "ud-start-psn", Severity: Warning, Needs: WireQP, Ref: "10.2†",
		Text:  "The first packet that a UD QP sends should carry the PSN that it was set up with.",
		Where: "verifier/ud/ud.go",
	},
	UDACK001 - udFirst: {
		ID: "UD-ACK-001", Name: "ud-response", Severity: Error, Needs: Wire, Ref: "9.8.3†",
		Text:  "A UD packet asks for no acknowledgement and gets none.",
		Where: "verifier/header/service.go",
	},
	UDQKEY001 - udFirst: {
		ID: "UD-QKEY-001", Name: "ud-qkey-match", Severity: Error, Needs: WireQP, Ref: "9.6.1.4.1",
		Text:  "The Q_Key of a packet is that of the destination QP. A receiver drops another silently and counts a Q_Key violation, perhaps with trap 258.",
		Where: "verifier/ud/ud.go",
	},
	UDQKEY003 - udFirst: {
		ID: "UD-QKEY-003", Name: "ud-gsi-qkey", Severity: Error, Needs: Wire, Ref: "9.6.1.4.1",
		Text:  "All traffic of QP 1 carries Q_Key 0x80010000; QP 0 does not look at the Q_Key.",
		Where: "verifier/header/service.go",
	},
	UDMC001 - udFirst: {
		ID: "UD-MC-001", Name: "ud-multicast-qp", Severity: Error, Needs: Wire, Ref: "9.6.1.2.3",
		Text:  "Destination QP 0xFFFFFF and a multicast DLID go together: neither appears without the other.",
		Where: "verifier/header/service.go",
	},
	UDMC002 - udFirst: {
		// An error once a public source confirms it; a warning until then.
		ID: "UD-MC-002", Name: "ud-multicast-gid", Severity: Warning, Needs: Wire, Ref: "10.5†",
		Text:  "A multicast packet carries a multicast destination GID, and its DLID is the one that belongs to that group.",
		Where: "verifier/ud/multicast.go",
	},
	UDMC004 - udFirst: {
		ID: "UD-MC-004", Name: "multicast-only-ud", Severity: Error, Needs: Wire, Ref: "9.6.1.2.3",
		Text:  "Only UD is multicast: no RC, UC or RD packet goes to QP 0xFFFFFF or to a multicast address.",
		Where: "verifier/header/header.go",
	},
	UDQP0001 - udFirst: {
		ID: "UD-QP0-001", Name: "smp-format", Severity: Error, Needs: Wire, Ref: "13.5.3.1",
		Text:  "A packet to QP 0 is SEND Only, on VL 15, with exactly 256 bytes of payload; the P_Key is not checked.",
		Where: "verifier/header/service.go",
	},
	UDQP0002 - udFirst: {
		ID: "UD-QP0-002", Name: "smp-malformed-answered", Severity: Error, Needs: Wire, Ref: "13.5.3.1",
		Text:  "A receiver drops a packet to QP 0 that is not on VL 15 or not of 256 bytes, and answers nothing.",
		Where: "verifier/ud/smp.go",
	},
	UDQP1001 - udFirst: {
		ID: "UD-QP1-001", Name: "gmp-format", Severity: Error, Needs: Wire, Ref: "13.5.3.1",
		Text:  "A packet to QP 1 is SEND Only without immediate, never on VL 15, with exactly 256 bytes of payload.",
		Where: "verifier/header/service.go",
	},
	UDQP1002 - udFirst: {
		ID: "UD-QP1-002", Name: "roce-qp0", Severity: Error, Needs: Wire, Ref: "CA17-33",
		Text:  "QP 0 does not exist on RoCE; packets to it are dropped silently.",
		Where: "verifier/header/service.go",
	},
	UDPKY001 - udFirst: {
		// An error once a public source confirms it; a warning until then.
		ID: "UD-PKY-001", Name: "ud-pkey-sent", Severity: Warning, Needs: WireQP, Ref: "10.9†",
		Text:  "A UD QP sends the P_Key that it was set up with; only QP 1 may take another entry of the table for each work request.",
		Where: "verifier/ud/ud.go",
	},
	UDGRH002 - udFirst: {
		ID: "UD-GRH-002", Name: "grh-flag", Severity: Error, Needs: WireCQE, Ref: "11.4.2",
		Text:  "A receive completion says that there is a GRH exactly where the packet had one; on RoCE it always has.",
		Where: "cq/receive_check.go",
	},
	UDGRH004 - udFirst: {
		ID: "UD-GRH-004", Name: "datagram-length", Severity: Error, Needs: WireCQE, Ref: "11.4.2",
		Text:  "The length of the receive completion of a datagram is its payload and 40 bytes for the GRH.",
		Where: "cq/receive_check.go",
	},
	UDCQE001 - udFirst: {
		ID: "UD-CQE-001", Name: "datagram-source", Severity: Error, Needs: WireCQE, Ref: "11.4.2",
		Text:  "The receive completion of a datagram names the QP that sent it.",
		Where: "cq/receive_check.go",
	},
	UDQKEY004 - udFirst: {
		ID: "UD-QKEY-004", Name: "wrong-qkey-completes", Severity: Error, Needs: WireCQE, Ref: "9.6.1.4.1",
		Text:  "A datagram whose Q_Key is not that of the queue pair makes no receive completion.",
		Where: "cq/receive_completion.go",
	},
	UDLEN002 - udFirst: {
		ID: "UD-LEN-002", Name: "ud-too-long-status", Severity: Warning, Needs: WireWQE, Ref: "C10-93.1.1",
		Text:  "A datagram longer than the MTU of the port is not sent, and its request completes with success. What is sent nevertheless is judged by UD-LEN-001.",
		Where: "cq/unreliable.go",
	},
	UDLEN003 - udFirst: {
		ID: "UD-LEN-003", Name: "ud-receive-too-long", Severity: Error, Needs: WireWQE, Ref: "9.8.3†",
		Text:  "A datagram that is longer than the receive request, less 40 bytes, is dropped, and the next one takes the request.",
		Where: "cq/unreliable.go",
	},
	UDQKEY002 - udFirst: {
		ID: "UD-QKEY-002", Name: "ud-privileged-qkey", Severity: Error, Needs: WireWQE, Ref: "10.2.5",
		Text:  "Where the Q_Key of a work request has its high bit set, the Q_Key of the sending QP is sent in its place.",
		Where: "cq/request_headers.go",
	},
	UDRWQE001 - udFirst: {
		ID: "UD-RWQE-001", Name: "ud-receive-late", Severity: Error, Needs: WireCQE, Ref: "9.8.3†",
		Text:  "A datagram that finds no receive request is dropped: one that is posted later does not take it.",
		Where: "cq/unreliable.go",
	},
	UDGRH001 - udFirst: {
		ID: "UD-GRH-001", Name: "datagram-offset", Severity: Error, Needs: WireMem, Ref: "11.4.2",
		Text:  "The first 40 bytes of the memory that a datagram is received into are reserved for the GRH: the payload begins after them.",
		Where: "cq/group.go",
	},
	UDGRH003 - udFirst: {
		ID: "UD-GRH-003", Name: "datagram-ipv4-header", Severity: Warning, Needs: WireMem, Ref: "CA17-30",
		Text:  "On RoCEv2 over IPv4 the IPv4 header of a datagram is placed in bytes 20 to 39 of the memory.",
		Where: "cq/group.go",
	},
	UDMC003 - udFirst: {
		ID: "UD-MC-003", Name: "multicast-once", Severity: Error, Needs: WireCQE, Ref: "10.5.2†",
		Text:  "Each queue pair that has joined a multicast group receives a datagram to the group once, and no other does.",
		Where: "cq/group.go",
	},
	UDAH001 - udFirst: {
		// An error once a public source confirms it; a warning until then.
		ID: "UD-AH-001", Name: "address-handle", Severity: Warning, Needs: WireWQE, Ref: "11.2.2†",
		Text:  "A datagram goes where its address handle says, with the traffic class and hop limit of that.",
		Where: "cq/group.go",
	},
	UDMC005 - udFirst: {
		ID: "UD-MC-005", Name: "multicast-loopback", Severity: Info, Needs: WireCQE, Ref: "10.5†",
		Text:   "The sender of a datagram to a group that it has joined gets no copy back from the network: its own device makes it.",
		NotWhy: "A frame that comes back looks like one that was sent twice; who delivers both breaks UD-MC-003.",
	},
}
