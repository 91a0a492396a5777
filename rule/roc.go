package rule

// RoCE, versions 1 and 2.
const (
	ROCV1001 ID = iota + rocFirst
	ROCV1002
	ROCV1003
	ROCV2002
	ROCV2003
	ROCV2004
	ROCV2005
	ROCV2006
	ROCV2007
	ROCV2008
	ROCV2009
	ROCV2010
	ROCV2011
	ROCV2012
	ROCV2013
	ROCV2014
	ROCV2015
	ROCV2016
	ROCV2017
	ROCV2018
	ROCV2019
	ROCV2020
	ROCV2022
	ROCV2024
	ROCV2025
	ROCV2026
	ROCV2027
	ROCV2028
	ROCV2029
	ROCV2030
	ROCV2031
	ROCV2032
	ROCV2033
	ROCV2034
	ROCV2021
	ROCV2001
	ROCV2023

	flwFirst
)

var rocRows = [flwFirst - rocFirst]Row{
	ROCV1001 - rocFirst: {
		ID: "ROC-V1-001", Name: "roce1-format", Severity: Error, Needs: Wire, Ref: "A16",
		Text:  "A RoCEv1 frame is EtherType 0x8915, GRH, BTH and what its opcode needs, and ICRC: no LRH and no VCRC.",
		Where: "verifier/header/icrc.go",
	},
	ROCV1002 - rocFirst: {
		ID: "ROC-V1-002", Name: "roce1-grh", Severity: Error, Needs: Wire, Ref: "A16, 8.3",
		Text:   "The GRH of a RoCEv1 packet has IP version 6 and next header 0x1B, and its PayLen counts from the end of the GRH through the ICRC.",
		NotWhy: "Judged as NET-GRH-002, NET-GRH-003 and NET-GRH-004, which hold on RoCEv1 too.",
	},
	ROCV1003 - rocFirst: {
		// No public source confirms this row yet: it stays a warning until one does.
		ID: "ROC-V1-003", Name: "roce1-ethernet-pad", Severity: Warning, Needs: Wire, Ref: "A16",
		Text:   "What fills a short Ethernet frame up to 60 bytes counts neither in PayLen nor in the ICRC.",
		NotWhy: "Judged as ROC-V2-019: what was counted of the padding makes the ICRC wrong. With GRH, BTH and ICRC no RoCEv1 frame is shorter than 70 bytes, so that nothing fills it.",
	},
	ROCV2002 - rocFirst: {
		ID: "ROC-V2-002", Name: "roce2-format", Severity: Error, Needs: Wire, Ref: "CA17-2",
		Text:  "A RoCEv2 packet is IPv4 or IPv6, UDP, BTH and what its opcode needs, and ICRC: no LRH, no GRH and no VCRC.",
		Where: "verifier/header/icrc.go",
	},
	ROCV2003 - rocFirst: {
		ID: "ROC-V2-003", Name: "ipv4-options", Severity: Error, Needs: Wire, Ref: "CA17-3",
		Text:  "The IPv4 header has no options: IHL is 5.",
		Where: "verifier/header/roce.go",
	},
	ROCV2004 - rocFirst: {
		ID: "ROC-V2-004", Name: "ipv4-dscp", Severity: Error, Needs: WireQP, Ref: "CA17-4",
		Text:  "The DSCP of an IPv4 packet is the upper six bits of the traffic class in the address vector.",
		Where: "verifier/header/flow.go",
	},
	ROCV2005 - rocFirst: {
		ID: "ROC-V2-005", Name: "ecn-at-source", Severity: Error, Needs: Wire, Ref: "CA17-5, CA17-14",
		Text:  "A sender marks packets ECN-capable (01 or 10) if congestion management is on, and 00 if not; never 11, which is the network's to set.",
		Where: "verifier/header/roce.go",
	},
	ROCV2006 - rocFirst: {
		ID: "ROC-V2-006", Name: "ipv4-total-length", Severity: Error, Needs: Wire, Ref: "CA17-6",
		Text:  "The IPv4 total length counts from the IP header through the ICRC.",
		Where: "verifier/header/icrc.go",
	},
	ROCV2007 - rocFirst: {
		ID: "ROC-V2-007", Name: "ipv4-flags", Severity: Error, Needs: Wire, Ref: "CA17-7",
		Text:  "The IPv4 flags say do not fragment, and no more fragments.",
		Where: "verifier/header/roce.go",
	},
	ROCV2008 - rocFirst: {
		ID: "ROC-V2-008", Name: "ipv4-fragment", Severity: Error, Needs: Wire, Ref: "CA17-8",
		Text:  "RoCEv2 packets are never fragmented: the fragment offset is 0.",
		Where: "verifier/header/roce.go",
	},
	ROCV2009 - rocFirst: {
		ID: "ROC-V2-009", Name: "hop-limit-at-source", Severity: Warning, Needs: WireQP, Ref: "CA17-9, CA17-17",
		Text:  "A sender puts the hop limit of the address vector into IPv4 TTL or IPv6 hop limit. Judged on the first packet of a flow.",
		Where: "verifier/header/flow.go",
	},
	ROCV2010 - rocFirst: {
		ID: "ROC-V2-010", Name: "ip-protocol", Severity: Error, Needs: Wire, Ref: "CA17-10, CA17-16",
		Text:  "The IPv4 protocol, or the IPv6 next header, is 17, UDP.",
		Where: "verifier/header/roce.go",
	},
	ROCV2011 - rocFirst: {
		ID: "ROC-V2-011", Name: "source-ip", Severity: Error, Needs: WireQP, Ref: "CA17-11, CA17-18",
		Text:  "The source IP address is the GID of the sender's GID index: on a connection, the GID of the path that its REQ has named.",
		Where: "verifier/header/address.go",
	},
	ROCV2012 - rocFirst: {
		ID: "ROC-V2-012", Name: "destination-ip", Severity: Error, Needs: WireQP, Ref: "CA17-12, CA17-19",
		Text:  "The destination IP address is the destination GID of the address vector: on a connection, the address of the peer.",
		Where: "verifier/header/address.go",
	},
	ROCV2013 - rocFirst: {
		ID: "ROC-V2-013", Name: "ipv6-dscp", Severity: Error, Needs: WireQP, Ref: "CA17-13",
		Text:  "The DSCP of an IPv6 packet is the upper six bits of the traffic class in the address vector.",
		Where: "verifier/header/flow.go",
	},
	ROCV2014 - rocFirst: {
		ID: "ROC-V2-014", Name: "ipv6-payload-length", Severity: Error, Needs: Wire, Ref: "CA17-15, CA17-16",
		Text:  "The IPv6 payload length counts from the UDP header through the ICRC, and there are no extension headers.",
		Where: "verifier/header/icrc.go",
	},
	ROCV2015 - rocFirst: {
		ID: "ROC-V2-015", Name: "udp-destination-port", Severity: Error, Needs: Wire, Ref: "CA17-20",
		Text:  "The UDP destination port is 4791, in both directions.",
		Where: "verifier/header/roce.go",
	},
	ROCV2016 - rocFirst: {
		ID: "ROC-V2-016", Name: "udp-length", Severity: Error, Needs: Wire, Ref: "CA17-21",
		Text:  "The UDP length counts the 8 bytes of its header and BTH through ICRC, which is all of the IP payload.",
		Where: "verifier/header/icrc.go",
	},
	ROCV2017 - rocFirst: {
		ID: "ROC-V2-017", Name: "udp-checksum", Severity: Warning, Needs: Wire, Ref: "A17.3.1.x",
		Text:  "The UDP checksum should be 0; one that is not 0 is right. Receivers accept 0 over IPv4 and IPv6.",
		Where: "verifier/header/roce.go",
	},
	ROCV2018 - rocFirst: {
		ID: "ROC-V2-018", Name: "udp-source-port", Severity: Warning, Needs: Wire, Ref: "A17 (should)",
		Text:  "Each direction of a connection should keep one UDP source port between 0xC000 and 0xFFFF, so that all its packets take one path.",
		Where: "verifier/header/flow_port.go",
	},
	ROCV2019 - rocFirst: {
		ID: "ROC-V2-019", Name: "roce2-icrc", Severity: Error, Needs: Wire, Ref: "CA17-22",
		Text:  "The ICRC is right: CRC-32 over eight bytes of ones and the packet from the IP header through the pad, with the fields that may change on the way set to ones.",
		Where: "verifier/header/icrc.go",
	},
	ROCV2020 - rocFirst: {
		ID: "ROC-V2-020", Name: "roce2-transport-checks", Severity: Error, Needs: Wire, Ref: "CA17-23, CA17-25",
		Text:   "The checks of the base transport hold on RoCEv2 as they do on InfiniBand; what fails them is dropped.",
		NotWhy: "Judged as BTH-002 to BTH-018, of which it is a summary.",
	},
	ROCV2022 - rocFirst: {
		ID: "ROC-V2-022", Name: "roce2-ip-version", Severity: Error, Needs: Wire, Ref: "CA17-27",
		Text:  "The IP version is 4 or 6; receivers drop others.",
		Where: "verifier/header/roce.go",
	},
	ROCV2024 - rocFirst: {
		ID: "ROC-V2-024", Name: "roce2-fecn-becn", Severity: Info, Needs: Wire, Ref: "CA17-29",
		Text:   "FECN and BECN carry no meaning on RoCEv2: congestion is told by ECN marks and by CNPs, known by their opcode.",
		NotWhy: "Judged as BTH-016.",
	},
	ROCV2025 - rocFirst: {
		ID: "ROC-V2-025", Name: "roce2-qp0-answered", Severity: Error, Needs: Wire, Ref: "CA17-33",
		Text:  "A packet to QP 0 is dropped silently: nothing answers it.",
		Where: "verifier/header/roce.go",
	},
	ROCV2026 - rocFirst: {
		ID: "ROC-V2-026", Name: "roce2-cm-lids", Severity: Warning, Needs: Wire, Ref: "CA17-34..38",
		Text:  "CM messages make no use of their LID fields, which are reserved on RoCE, and never carry the codes about LIDs (REJ 13 and 19, APR 7).",
		Where: "verifier/header/roce_cm.go",
	},
	ROCV2027 - rocFirst: {
		ID: "ROC-V2-027", Name: "roce-version-constant", Severity: Error, Needs: WireQP, Ref: "CA17-40, CA17-41",
		Text:  "A connection uses the RoCE version of its GID in both directions; packets of the other version are not accepted for it.",
		Where: "verifier/header/flow.go",
	},
	ROCV2028 - rocFirst: {
		ID: "ROC-V2-028", Name: "ud-roce-version", Severity: Warning, Needs: WireQP, Ref: "CA17-42, CA17-43",
		Text:   "A UD QP sends in the RoCE version of the address handle's GID, and receives both.",
		NotWhy: "A permission to receivers; which version an address handle names is not on the wire.",
	},
	ROCV2029 - rocFirst: {
		ID: "ROC-V2-029", Name: "roce2-connection-address", Severity: Error, Needs: WireQP, Ref: "CA17-39, CA17-41",
		Text:  "On a connection packets go from the peer's address to the local one that were agreed when it was made; a receiver drops others.",
		Where: "verifier/header/address.go",
	},
	ROCV2030 - rocFirst: {
		ID: "ROC-V2-030", Name: "roce2-service-level", Severity: Warning, Needs: WireQP, Ref: "A17",
		Text:  "The service level of a path named in a REQ is 0 to 7, which map to an Ethernet priority; 8 to 15 are reserved.",
		Where: "verifier/header/roce_cm.go",
	},
	ROCV2031 - rocFirst: {
		// An error once a public source confirms it; a warning until then.
		ID: "ROC-V2-031", Name: "roce2-mtu", Severity: Warning, Needs: WireQP, Ref: "A16",
		Text:  "A whole packet fits into the MTU of the IP network, so the PMTU is the largest of 256 to 4096 that leaves room for the headers. Routers tell of packets that do not, by ICMP.",
		Where: "verifier/header/roce_mtu.go",
	},
	ROCV2032 - rocFirst: {
		ID: "ROC-V2-032", Name: "roce2-management-classes", Severity: Warning, Needs: Wire, Ref: "A16, A17",
		Text:  "On RoCE QP 1 carries communication management, but no subnet management or administration, and no LIDs.",
		Where: "verifier/header/service.go",
	},
	ROCV2033 - rocFirst: {
		// No public source confirms this row yet: it stays a warning until one does.
		ID: "ROC-V2-033", Name: "roce2-multicast-address", Severity: Warning, Needs: Wire, Ref: "A17",
		Text:  "A multicast group over IPv4 is an address in 224.0.0.0/4, as a GID in mapped form, and goes to the multicast MAC address that belongs to it. UD-MC-001 judges the IP address.",
		Where: "verifier/ud/multicast_mac.go",
	},
	ROCV2034 - rocFirst: {
		ID: "ROC-V2-034", Name: "roce2-pkey", Severity: Warning, Needs: WireQP, Ref: "A16",
		Text:   "The P_Key is the default 0xFFFF unless the partition table was changed, and is checked as on InfiniBand.",
		NotWhy: "Judged as PKY-001 to PKY-006, on the P_Keys that are used; the table of a port is not on a RoCE wire.",
	},
	ROCV2021 - rocFirst: {
		ID: "ROC-V2-021", Name: "roce2-damaged-completes", Severity: Error, Needs: WireCQE, Ref: "CA17-24",
		Text:  "A packet with a wrong ICRC is dropped: it makes no completion. A response to it is judged by RC-RSP-036.",
		Where: "cq/unreliable.go",
	},
	ROCV2001 - rocFirst: {
		ID: "ROC-V2-001", Name: "roce2-encapsulations", Severity: Info, Needs: Verbs, Ref: "CA17-1",
		Text:   "A RoCEv2 port supports both encapsulations, IPv4 and IPv6.",
		NotWhy: "What a port supports, and is not used, is on no wire.",
	},
	ROCV2023 - rocFirst: {
		ID: "ROC-V2-023", Name: "roce2-no-raw", Severity: Info, Needs: Verbs, Ref: "CA17-28",
		Text:   "There is no raw datagram service on RoCEv2.",
		NotWhy: "A raw datagram has no BTH by which it could be told from other traffic over UDP.",
	},
}
