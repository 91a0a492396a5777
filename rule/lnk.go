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
	LNKLRH001
	LNKLRH008
	LNKVL003
	LNKVL006
	LNKCRC002
	LNKCRC005
	LNKFCP001
	LNKFCP002
	LNKFCP003
	LNKFCP004
	LNKFCP005
	LNKFCP006
	LNKFCP007
	LNKFCP008
	LNKFCP009
	LNKFCP010
	LNKFCP011
	LNKFCP012
	LNKST002
	LNKST004
	LNKST005
	LNKST006
	LNKARB001
	LNKSW002
	LNKLRH007
	LNKLID007
	LNKVL002
	LNKCRC006
	LNKRAW001
	LNKVL007
	LNKSW001
	LNKSW003
	LNKST001
	LNKARB002
	LNKMTU002
	LNKVL004
	LNKLID005
	LNKLID006
	LNKVL005
	LNKMTU001
	LNKST003

	cngFirst
)

var lnkRows = [cngFirst - lnkFirst]Row{
	LNKLRH002 - lnkFirst: {
		ID: "LNK-LRH-002", Name: "lrh-version", Severity: Error, Needs: Wire, Ref: "ch.7",
		Text:  "The link version is 0; a port drops a packet of another version.",
		Where: "verifier/header/link.go",
	},
	LNKLRH003 - lnkFirst: {
		ID: "LNK-LRH-003", Name: "lrh-reserved", Severity: Warning, Needs: Wire, Ref: "7.7",
		Text:  "The reserved bits of the LRH (two beside LNH, five above PktLen) are sent as 0 and ignored by the receiver.",
		Where: "verifier/header/link.go",
	},
	LNKLRH004 - lnkFirst: {
		ID: "LNK-LRH-004", Name: "lrh-next-header", Severity: Error, Needs: Wire, Ref: "7.7",
		Text:  "LNH tells what follows the LRH: 0 raw with EtherType, 1 raw IPv6, 2 BTH, 3 GRH and BTH. A channel adapter's transport takes only 2 and 3.",
		Where: "verifier/header/link.go",
	},
	LNKLRH005 - lnkFirst: {
		ID: "LNK-LRH-005", Name: "lrh-packet-length", Severity: Error, Needs: Wire, Ref: "7.7",
		Text:  "PktLen counts the 4-byte words from LRH through ICRC, without the VCRC, and agrees with the packet.",
		Where: "verifier/header/icrc.go",
	},
	LNKLRH006 - lnkFirst: {
		ID: "LNK-LRH-006", Name: "lrh-packet-minimum", Severity: Error, Needs: Wire, Ref: "7.7",
		Text:  "PktLen is at least 6 words for a transport packet and 5 for a raw one.",
		Where: "verifier/header/link.go",
	},
	LNKLID001 - lnkFirst: {
		ID: "LNK-LID-001", Name: "lid-zero", Severity: Error, Needs: Wire, Ref: "4.1†",
		Text:  "No packet goes to LID 0.",
		Where: "verifier/header/link.go",
	},
	LNKLID002 - lnkFirst: {
		ID: "LNK-LID-002", Name: "lid-ranges", Severity: Error, Needs: Wire, Ref: "4.1.3",
		Text:   "LIDs 0x0001 to 0xBFFF are unicast, 0xC000 to 0xFFFE multicast, and 0xFFFF is the permissive one; each is used only as such.",
		NotWhy: "Judged as LNK-LID-001, LNK-LID-003, LNK-LID-004 and UD-MC-001: a definition that they judge by.",
	},
	LNKLID003 - lnkFirst: {
		ID: "LNK-LID-003", Name: "source-lid", Severity: Error, Needs: Wire, Ref: "4.1.3, 9.6.1.5",
		Text:  "The source LID is unicast, or 0xFFFF on QP 0 of a port that has no LID yet; it is never multicast and never 0.",
		Where: "verifier/header/link.go",
	},
	LNKLID004 - lnkFirst: {
		ID: "LNK-LID-004", Name: "permissive-lid", Severity: Error, Needs: Wire, Ref: "9.6.1.5.1, 13.5.3.1",
		Text:  "The permissive LID appears only in packets to QP 0, and these are directed-route management packets (class 0x81).",
		Where: "verifier/header/link.go",
	},
	LNKVL001 - lnkFirst: {
		ID: "LNK-VL-001", Name: "vl15-management-only", Severity: Error, Needs: Wire, Ref: "13.5.3.1, 7.6†",
		Text:  "VL 15 is only for subnet management: every packet to QP 0 is on it, and no other packet is.",
		Where: "verifier/header/link.go",
	},
	LNKSL001 - lnkFirst: {
		ID: "LNK-SL-001", Name: "connection-service-level", Severity: Warning, Needs: WireQP, Ref: "9.6†",
		Text:  "What a connected QP sends, requests and responses alike, carries the service level of its address vector; with CM both ends have the one of the REQ.",
		Where: "verifier/header/flow.go",
	},
	LNKCRC001 - lnkFirst: {
		// An error once a public source confirms it; a warning until then.
		ID: "LNK-CRC-001", Name: "vcrc", Severity: Warning, Needs: Link, Ref: "7.8.2†",
		Text:  "The VCRC is right: each link recomputes it over LRH through ICRC, and a port drops a packet with a wrong one.",
		Where: "verifier/header/icrc.go",
	},
	LNKCRC003 - lnkFirst: {
		ID: "LNK-CRC-003", Name: "icrc-local", Severity: Error, Needs: Wire, Ref: "7.8.1†",
		Text:  "The ICRC of a packet without GRH is right: CRC-32 from LRH through pad, with VL and the fifth byte of the BTH (FECN, BECN, reserved) set to ones.",
		Where: "verifier/header/icrc.go",
	},
	LNKCRC004 - lnkFirst: {
		ID: "LNK-CRC-004", Name: "icrc-global", Severity: Error, Needs: Wire, Ref: "7.8.1†",
		Text:  "The ICRC of a packet with GRH is right: as for a local packet, with the whole LRH and the GRH's traffic class, flow label and hop limit set to ones too.",
		Where: "verifier/header/icrc.go",
	},
	LNKLRH001 - lnkFirst: {
		ID: "LNK-LRH-001", Name: "lrh-present", Severity: Error, Needs: Wire, Ref: "7.7",
		Text:  "Every data packet begins with an LRH: 8 bytes.",
		Where: "link/data.go",
	},
	LNKLRH008 - lnkFirst: {
		ID: "LNK-LRH-008", Name: "whole-words", Severity: Error, Needs: Wire, Ref: "7.7",
		Text:  "A packet is a whole number of 4-byte words from LRH through ICRC, and two bytes more for the VCRC.",
		Where: "link/data.go",
	},
	LNKVL003 - lnkFirst: {
		ID: "LNK-VL-003", Name: "vl15-service-level", Severity: Info, Needs: Wire, Ref: "3.5.8.2†",
		Text:   "The SL of a packet on VL 15 is ignored.",
		NotWhy: "Permits any value: no packet can break it.",
	},
	LNKVL006 - lnkFirst: {
		ID: "LNK-VL-006", Name: "operational-lanes", Severity: Error, Needs: WireQP, Ref: "14.2.5.6",
		Text:  "A data packet uses an operational lane only, one for which the other port of the link offers credits.",
		Where: "link/data.go",
	},
	LNKCRC002 - lnkFirst: {
		ID: "LNK-CRC-002", Name: "icrc-present", Severity: Error, Needs: Wire, Ref: "7.8.1†",
		Text:   "A packet with LNH 2 or 3 ends with an ICRC, and a raw packet has none.",
		NotWhy: "Judged as LNK-CRC-003 and LNK-CRC-004: a packet without it is one whose last word is no ICRC.",
	},
	LNKCRC005 - lnkFirst: {
		ID: "LNK-CRC-005", Name: "icrc-parameters", Severity: Error, Needs: Wire, Ref: "7.8.1†",
		Text:  "The ICRC is the CRC-32 of Ethernet: its polynomial, ones at the beginning, inverted, sent least significant byte first.",
		Where: "verifier/header/icrc.go",
	},
	LNKFCP001 - lnkFirst: {
		ID: "LNK-FCP-001", Name: "flow-control-format", Severity: Warning, Needs: Link, Ref: "7.9.4",
		Text:  "A flow control packet is 6 bytes: operand, FCTBS, VL, FCCL, and an LPCRC that is right.",
		Where: "link/credit.go",
	},
	LNKFCP002 - lnkFirst: {
		ID: "LNK-FCP-002", Name: "flow-control-operand", Severity: Error, Needs: Link, Ref: "7.9.4",
		Text:  "The operand is 0 (normal) or 1 (init); a packet with another one is dropped.",
		Where: "link/credit.go",
	},
	LNKFCP003 - lnkFirst: {
		ID: "LNK-FCP-003", Name: "flow-control-state", Severity: Error, Needs: Link, Ref: "7.9.4",
		Text:  "A port in LinkInitialize sends the operand init, and one in LinkArm or LinkActive normal.",
		Where: "link/state.go",
	},
	LNKFCP004 - lnkFirst: {
		ID: "LNK-FCP-004", Name: "blocks-sent", Severity: Warning, Needs: Link, Ref: "7.9.4",
		Text:  "FCTBS is how many blocks of 64 bytes the port has sent on the lane since the link came up, modulo 4096.",
		Where: "link/credit.go",
	},
	LNKFCP005 - lnkFirst: {
		ID: "LNK-FCP-005", Name: "blocks-received", Severity: Error, Needs: Link, Ref: "7.9.4",
		Text:  "A receiver sets its ABR from FCTBS, and between flow control packets advances it by the blocks of each packet that it accepts, not by those that it drops.",
		Where: "link/credit.go",
	},
	LNKFCP006 - lnkFirst: {
		ID: "LNK-FCP-006", Name: "credits-offered", Severity: Warning, Needs: Link, Ref: "7.9.4",
		Text:  "FCCL is ABR and the blocks that are free, at most 2048, modulo 4096.",
		Where: "link/credit.go",
	},
	LNKFCP007 - lnkFirst: {
		ID: "LNK-FCP-007", Name: "right-to-transmit", Severity: Warning, Needs: Link, Ref: "7.9.4",
		Text:  "A packet is sent only where FCCL is at least FCTBS with its blocks: their difference modulo 4096 is at most 2048.",
		Where: "link/data.go",
	},
	LNKFCP008 - lnkFirst: {
		ID: "LNK-FCP-008", Name: "update-interval", Severity: Warning, Needs: Link, Ref: "7.9.4",
		Text:  "On each operational data lane a flow control packet is sent before 65,536 symbol times have passed since the last one.",
		Where: "link/state.go",
	},
	LNKFCP009 - lnkFirst: {
		ID: "LNK-FCP-009", Name: "flow-control-lane", Severity: Error, Needs: Link, Ref: "7.9.4",
		Text:  "A flow control packet is about an operational data lane, 0 to 14, never 15.",
		Where: "link/credit.go",
	},
	LNKFCP010 - lnkFirst: {
		ID: "LNK-FCP-010", Name: "flow-control-begin", Severity: Warning, Needs: Link, Ref: "7.9.4",
		Text:  "FCTBS begins with 0 while the link comes up.",
		Where: "link/credit.go",
	},
	LNKFCP011 - lnkFirst: {
		ID: "LNK-FCP-011", Name: "credit-limit-forward", Severity: Warning, Needs: Link, Ref: "7.9.4",
		Text:  "FCCL never goes back.",
		Where: "link/credit.go",
	},
	LNKFCP012 - lnkFirst: {
		ID: "LNK-FCP-012", Name: "lossless-link", Severity: Warning, Needs: Link, Ref: "7.9.4",
		Text:  "FCTBS agrees with the blocks that were seen on the lane; what is missing was lost on the link.",
		Where: "link/credit.go",
	},
	LNKST002 - lnkFirst: {
		ID: "LNK-ST-002", Name: "initialize-data", Severity: Warning, Needs: Link, Ref: "7.2.7",
		Text:  "A port in LinkInitialize sends flow control packets and packets on VL 15, and no data packet.",
		Where: "link/data.go",
	},
	LNKST004 - lnkFirst: {
		ID: "LNK-ST-004", Name: "active-packets", Severity: Info, Needs: Link, Ref: "7.2.7",
		Text:   "In LinkActive all packets are allowed.",
		NotWhy: "Permits everything: no packet can break it.",
	},
	LNKST005 - lnkFirst: {
		ID: "LNK-ST-005", Name: "down-silent", Severity: Error, Needs: Link, Ref: "7.2.7",
		Text:  "A port that is down sends nothing.",
		Where: "link/data.go",
	},
	LNKST006 - lnkFirst: {
		ID: "LNK-ST-006", Name: "physical-state-code", Severity: Info, Needs: Wire, Ref: "14.2.5.6",
		Text:  "The physical state of a port is 1 to 7: sleep, polling, disabled, training, link up, error recovery, test.",
		Where: "link/state.go",
	},
	LNKARB001 - lnkFirst: {
		ID: "LNK-ARB-001", Name: "lane-arbitration", Severity: Warning, Needs: Link, Ref: "7.6.9",
		Text:   "Lanes of high priority send no more than VLHighLimit allows before a packet of low priority that waits.",
		NotWhy: "Which packets wait in a port, and for which credits, is not visible on its link.",
	},
	LNKSW002 - lnkFirst: {
		ID: "LNK-SW-002", Name: "switch-forwarding", Severity: Warning, Needs: WireQP, Ref: "18.2.4†",
		Text:  "A switch forwards a unicast packet to the port that its linear forwarding table has for the DLID, and drops it where that is 255.",
		Where: "verifier/smp/topology.go",
	},
	LNKLRH007 - lnkFirst: {
		ID: "LNK-LRH-007", Name: "lrh-packet-maximum", Severity: Error, Needs: WireQP, Ref: "7.7",
		Text:  "PktLen is at most (MTU + 124) / 4 words: 287 at an MTU of 1024, 1055 at 4096.",
		Where: "verifier/header/link.go",
	},
	LNKLID007 - lnkFirst: {
		ID: "LNK-LID-007", Name: "multicast-lid", Severity: Error, Needs: Wire, Ref: "9.6.1†",
		Text:   "A packet to a multicast LID has a GRH, destination QP 0xFFFFFF and an opcode of UD.",
		NotWhy: "Judged as NET-GRH-009, UD-MC-001 and UD-MC-004, its three parts.",
	},
	LNKVL002 - lnkFirst: {
		ID: "LNK-VL-002", Name: "vl15-local", Severity: Error, Needs: Wire, Ref: "7.9†",
		Text:  "A packet on VL 15 has no GRH, and no flow control packet is about VL 15.",
		Where: "verifier/header/link.go",
	},
	LNKCRC006 - lnkFirst: {
		ID: "LNK-CRC-006", Name: "damaged-unanswered", Severity: Warning, Needs: Link, Ref: "7.3†",
		Text:  "A packet that ends with the bad-packet delimiter, or whose VCRC is wrong, is dropped and not answered.",
		Where: "verifier/rc/acknowledge.go",
	},
	LNKRAW001 - lnkFirst: {
		ID: "LNK-RAW-001", Name: "raw-header", Severity: Error, Needs: Wire, Ref: "5.3",
		Text:  "A raw packet has an RWH, 16 reserved bits of 0 and an EtherType, and neither BTH nor ICRC.",
		Where: "verifier/header/link.go",
	},
	LNKVL007 - lnkFirst: {
		ID: "LNK-VL-007", Name: "service-level-constant", Severity: Error, Needs: Wire, Ref: "7.8.1†",
		Text:  "The VL of a packet may change at each hop, and its SL does not within a subnet.",
		Where: "verifier/header/link_crossing.go",
	},
	LNKSW001 - lnkFirst: {
		ID: "LNK-SW-001", Name: "switch-transparent", Severity: Error, Needs: Wire, Ref: "7.8.1†",
		Text:  "A switch changes nothing of a packet but VL, FECN and VCRC: its ICRC stays right from end to end.",
		Where: "verifier/header/link_crossing.go",
	},
	LNKSW003 - lnkFirst: {
		ID: "LNK-SW-003", Name: "switch-order", Severity: Warning, Needs: Wire, Ref: "18.2.4†",
		Text:  "A switch keeps the order of packets with the same LIDs and SL.",
		Where: "verifier/header/link_crossing.go",
	},
	LNKST001 - lnkFirst: {
		ID: "LNK-ST-001", Name: "port-state-set", Severity: Error, Needs: Wire, Ref: "7.2.6",
		Text:   "Only the states Down, Armed and Active are set, and each only from the state before.",
		NotWhy: "Judged as SMP-PI-006, where subnet management sets it.",
	},
	LNKARB002 - lnkFirst: {
		ID: "LNK-ARB-002", Name: "arbitration-entry", Severity: Warning, Needs: Wire, Ref: "14.2.5.9",
		Text:   "An entry of a VL arbitration table has 0 in its upper four bits, and never VL 15.",
		NotWhy: "Judged as SMP-VA-001, on the table that is set.",
	},
	LNKMTU002 - lnkFirst: {
		ID: "LNK-MTU-002", Name: "mtu-code", Severity: Error, Needs: Wire, Ref: "14.2.5.6",
		Text:   "The codes of MTUs are 1 to 5: 256, 512, 1024, 2048 and 4096 bytes.",
		NotWhy: "Judged as SMP-PI-005, on PortInfo: a definition that it judges by.",
	},
	LNKVL004 - lnkFirst: {
		ID: "LNK-VL-004", Name: "lane-of-service-level", Severity: Error, Needs: WireQP, Ref: "7.6†, 14.2.5.8",
		Text:   "The VL of a data packet is what the SLtoVL table of its port has for its SL.",
		NotWhy: "Judged as SMP-SV-003.",
	},
	LNKLID005 - lnkFirst: {
		ID: "LNK-LID-005", Name: "own-destination-lid", Severity: Error, Needs: WireQP, Ref: "7.11.1",
		Text:  "A channel adapter accepts a unicast packet only where the DLID without its low LMC bits is the LID of the port.",
		Where: "verifier/header/link_subnet.go",
	},
	LNKLID006 - lnkFirst: {
		ID: "LNK-LID-006", Name: "own-source-lid", Severity: Error, Needs: WireQP, Ref: "4.1.3",
		Text:  "The source LID is the LID of the port with path bits in its low LMC bits only.",
		Where: "verifier/header/link_subnet.go",
	},
	LNKVL005 - lnkFirst: {
		ID: "LNK-VL-005", Name: "service-level-dropped", Severity: Error, Needs: WireQP, Ref: "7.6.6",
		Text:  "A packet whose SL the SLtoVL table maps to VL 15 is dropped.",
		Where: "verifier/header/link_subnet.go",
	},
	LNKMTU001 - lnkFirst: {
		ID: "LNK-MTU-001", Name: "link-mtu", Severity: Error, Needs: WireQP, Ref: "7.6†",
		Text:  "The payload is at most the MTU of each link that the packet crosses; the sender of a link drops what is longer.",
		Where: "verifier/header/link_subnet.go",
	},
	LNKST003 - lnkFirst: {
		ID: "LNK-ST-003", Name: "armed-data", Severity: Warning, Needs: Link, Ref: "7.2.7",
		Text:  "A port that is Armed sends packets on VL 15 and flow control packets only; the first data packet that it gets makes it Active.",
		Where: "verifier/header/link_subnet.go",
	},
}
