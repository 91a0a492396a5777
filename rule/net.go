package rule

// Network layer: the global route header.
const (
	NETGRH001 ID = iota + netFirst
	NETGRH002
	NETGRH003
	NETGRH004
	NETGRH005
	NETGRH006
	NETGRH007
	NETGRH008
	NETGRH009
	NETGRH010
	NETGRH011
	NETGRH012
	NETGRH013

	pkyFirst
)

var netRows = [pkyFirst - netFirst]Row{
	NETGRH001 - netFirst: {
		ID: "NET-GRH-001", Name: "grh-format", Severity: Error, Needs: Wire, Ref: "8.3",
		Text:  "The global route header is 40 bytes: IP version, traffic class, flow label, payload length, next header, hop limit, source GID, destination GID. A packet whose LNH announces it has room for it.",
		Where: "verifier/header/format.go",
	},
	NETGRH002 - netFirst: {
		ID: "NET-GRH-002", Name: "grh-version", Severity: Error, Needs: Wire, Ref: "C9-45 (base; replaced by CA17-27 on RoCEv2), 8.4.1",
		Text:  "The IP version of a GRH is 6. A receiver drops other versions without answering.",
		Where: "verifier/header/network.go",
	},
	NETGRH003 - netFirst: {
		ID: "NET-GRH-003", Name: "grh-next-header", Severity: Error, Needs: Wire, Ref: "C8-7, C9-44",
		Text:  "The next header of a GRH is 0x1B, IBA transport. A channel adapter drops others.",
		Where: "verifier/header/network.go",
	},
	NETGRH004 - netFirst: {
		ID: "NET-GRH-004", Name: "grh-payload-length", Severity: Error, Needs: Wire, Ref: "8.3",
		Text:  "PayLen counts the bytes after the GRH, from BTH through ICRC; the VCRC does not count.",
		Where: "verifier/header/network.go",
	},
	NETGRH005 - netFirst: {
		ID: "NET-GRH-005", Name: "grh-lrh-length", Severity: Error, Needs: Wire, Ref: "8.3",
		Text:  "LRH and GRH agree on the length: PktLen words are LRH, GRH and PayLen bytes together.",
		Where: "verifier/header/network.go",
	},
	NETGRH006 - netFirst: {
		ID: "NET-GRH-006", Name: "grh-presence", Severity: Error, Needs: WireQP, Ref: "C9-43.1.1, C9-43.1.2 (9.6.1.2†)",
		Text:  "On a connected QP every packet has a GRH if the address vector is global, and none has one if it is local.",
		Where: "verifier/header/flow.go",
	},
	NETGRH007 - netFirst: {
		ID: "NET-GRH-007", Name: "grh-connection-gids", Severity: Error, Needs: WireQP, Ref: "9.6.1.2.3",
		Text:  "On a connected QP the destination GID is the local GID of the connection (also under the default prefix fe80::/64), and the source GID is that of the peer.",
		Where: "verifier/header/flow.go",
	},
	NETGRH008 - netFirst: {
		ID: "NET-GRH-008", Name: "grh-ud-destination", Severity: Error, Needs: WireQP, Ref: "9.6.1.2.3",
		Text:  "The destination GID of a unicast UD packet is a GID of the receiving port.",
		Where: "verifier/header/subnet_table.go",
	},
	NETGRH009 - netFirst: {
		ID: "NET-GRH-009", Name: "grh-multicast-destination", Severity: Error, Needs: Wire, Ref: "9.6.1†",
		Text:  "A packet to QP 0xFFFFFF carries a GRH (on RoCEv2 an IP header) with a multicast destination.",
		Where: "verifier/header/network.go",
	},
	NETGRH010 - netFirst: {
		ID: "NET-GRH-010", Name: "grh-hop-limit", Severity: Warning, Needs: Wire, Ref: "8.3",
		Text:  "A packet with hop limit 0 or 1 stays inside its subnet, so its sender does not address it to another one; a router lowers the hop limit by one.",
		Where: "verifier/header/network.go",
	},
	NETGRH011 - netFirst: {
		ID: "NET-GRH-011", Name: "grh-source-gid", Severity: Error, Needs: Wire, Ref: "4.1.1",
		Text:  "The source GID is a valid unicast GID: neither zero nor multicast.",
		Where: "verifier/header/network.go",
	},
	NETGRH012 - netFirst: {
		ID: "NET-GRH-012", Name: "grh-multicast-gid", Severity: Error, Needs: Wire, Ref: "4.1.1; o15-0.1.5",
		Text:  "A multicast GID starts with 0xFF, then a flags nibble of which only the lowest bit may be set, then a defined scope (2 link, 5 site, 8 organization, E global).",
		Where: "verifier/header/network.go",
	},
	NETGRH013 - netFirst: {
		ID: "NET-GRH-013", Name: "grh-connection-constant", Severity: Warning, Needs: WireQP, Ref: "9.6†",
		Text:  "Traffic class, flow label and GIDs stay the same over the life of an RC or UC connection, unless it migrates or its address vector is modified.",
		Where: "verifier/header/flow.go",
	},
}
