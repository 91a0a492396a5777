package rule

import "slices"

// Subnet management.
const (
	SMPFMT001 ID = iota + smpFirst
	SMPFMT002
	SMPFMT003
	SMPFMT004
	SMPFMT005
	SMPFMT006
	SMPMTH001
	SMPMTH002
	SMPMTH003
	SMPMTH004
	SMPMTH005
	SMPDR001
	SMPDR002
	SMPDR003
	SMPDR004
	SMPDR005
	SMPDR006
	SMPDR007
	SMPDR008
	SMPDR009
	SMPDR010
	SMPDR011
	SMPDR012
	SMPMK001
	SMPMK002
	SMPMK003
	SMPMK004
	SMPMK005
	SMPMK006
	SMPTRP001
	SMPTRP002
	SMPTRP003
	SMPTRP004
	SMPTRP005
	SMPTRP006
	SMPTRP007
	SMPNI001
	SMPNI002
	SMPND001
	SMPSI001
	SMPSI002
	SMPPI001
	SMPPI002
	SMPPI003
	SMPPI004
	SMPPI005
	SMPPI006
	SMPPI007
	SMPPI008
	SMPPI009
	SMPPI010
	SMPPI011
	SMPPI012
	SMPPK001
	SMPPK002
	SMPPK003
	SMPSV001
	SMPSV002
	SMPSV003
	SMPVA001
	SMPVA002
	SMPVA003
	SMPLF001
	SMPLF002
	SMPMF001
	SMPRF001
	SMPGI001
	SMPSMI001
	SMPSMI002
	SMPSMI003
	SMPSMI004
	SMPSMI005
	SMPVD001
	SMPPM001
	SMPRT001

	madFirst
)

var smpRows = slices.Concat(smpHeaderRows[:], smpAttributeRows[:])

// smpHeaderRows are of headers, routes, keys and traps.
var smpHeaderRows = [SMPSI001 - smpFirst]Row{
	SMPFMT001 - smpFirst: {
		ID: "SMP-FMT-001", Name: "smp-reserved", Severity: Error, Needs: Wire, Ref: "14.2.1†",
		Text:  "An SMP is 256 bytes: header, M_Key, on a directed route its LIDs and paths, and 64 bytes of data at 64. What lies between and, LID routed, after them is reserved and sent as 0. UD-QP0-001 judges the length.",
		Where: "verifier/smp/format.go",
	},
	SMPFMT002 - smpFirst: {
		ID: "SMP-FMT-002", Name: "smp-class", Severity: Error, Needs: Wire, Ref: "13.4.4, 13.5†",
		Text:  "On QP0 are only the classes 0x01, LID routed, and 0x81, directed route.",
		Where: "verifier/smp/format.go",
	},
	SMPFMT003 - smpFirst: {
		ID: "SMP-FMT-003", Name: "smp-version", Severity: Error, Needs: Wire, Ref: "13.4†",
		Text:  "Base version and class version of an SMP are 1.",
		Where: "verifier/smp/format.go",
	},
	SMPFMT004 - smpFirst: {
		ID: "SMP-FMT-004", Name: "smp-without-grh", Severity: Warning, Needs: Wire, Ref: "14.2†",
		Text:  "An SMP has no GRH. UD-QP0-001 judges its VL; its SL means nothing.",
		Where: "verifier/smp/format.go",
	},
	SMPFMT005 - smpFirst: {
		ID: "SMP-FMT-005", Name: "smp-qp0-both", Severity: Error, Needs: Wire, Ref: "13.5†",
		Text:  "An SMP goes from QP0 to QP0.",
		Where: "verifier/smp/format.go",
	},
	SMPFMT006 - smpFirst: {
		ID: "SMP-FMT-006", Name: "smp-one-subnet", Severity: Warning, Needs: Wire, Ref: "13.5†",
		Text:  "An SMP stays in its subnet: routers do not forward it.",
		Where: "verifier/smp/format.go",
	},
	SMPMTH001 - smpFirst: {
		ID: "SMP-MTH-001", Name: "smp-method", Severity: Error, Needs: Wire, Ref: "14.2.4",
		Text:  "The methods of subnet management are Get, Set, GetResp, Trap and TrapRepress.",
		Where: "verifier/smp/format.go",
	},
	SMPMTH002 - smpFirst: {
		ID: "SMP-MTH-002", Name: "smp-method-attribute", Severity: Error, Needs: Wire, Ref: "14.2.5",
		Text:  "A method goes with the attributes that have it (table T11); else the answer has status 0x0c.",
		Where: "verifier/smp/format.go",
	},
	SMPMTH003 - smpFirst: {
		ID: "SMP-MTH-003", Name: "smp-response-match", Severity: Error, Needs: Wire, Ref: "13.4.6†, 14.2.4",
		Text:  "Get and Set are each answered by one GetResp with the same TID, attribute and modifier. A Trap may be answered by a TrapRepress; nothing else is answered.",
		Where: "verifier/smp/exchange.go",
	},
	SMPMTH004 - smpFirst: {
		ID: "SMP-MTH-004", Name: "smp-set-takes", Severity: Warning, Needs: Wire, Ref: "14.2.4",
		Text:  "The answer to a Set carries the new values, and so does the answer to a Get after it.",
		Where: "verifier/smp/table_response.go",
	},
	SMPMTH005 - smpFirst: {
		ID: "SMP-MTH-005", Name: "smp-bad-mkey-answered", Severity: Error, Needs: Wire, Ref: "14.2.4.1",
		Text:  "A request that the M_Key check refuses is not answered, not even with a status.",
		Where: "verifier/smp/mkey.go",
	},
	SMPDR001 - smpFirst: {
		ID: "SMP-DR-001", Name: "dr-hop-count", Severity: Error, Needs: Wire, Ref: "C14-6",
		Text:  "The hop count of a directed route is 0 to 63.",
		Where: "verifier/smp/directed_route.go",
	},
	SMPDR002 - smpFirst: {
		ID: "SMP-DR-002", Name: "dr-first-hop", Severity: Error, Needs: Wire, Ref: "C14-9:1",
		Text:  "The sender of a directed-route SMP sets the hop pointer to 1 and sends it out of the first port of the initial path.",
		Where: "verifier/smp/directed_route.go",
	},
	SMPDR003 - smpFirst: {
		ID: "SMP-DR-003", Name: "dr-switch-outward", Severity: Error, Needs: Wire, Ref: "C14-9:2",
		Text:  "Each switch on the way puts the ingress port into the return path at the hop pointer, counts that up and leaves the initial path as it is.",
		Where: "verifier/smp/directed_route.go",
	},
	SMPDR004 - smpFirst: {
		ID: "SMP-DR-004", Name: "dr-end-of-route", Severity: Error, Needs: Wire, Ref: "C14-9:3",
		Text:  "At the end of the directed part the SMP is delivered, or a switch sends it on to DrDLID by LIDs where that is not permissive.",
		Where: "verifier/smp/directed_route.go",
	},
	SMPDR005 - smpFirst: {
		ID: "SMP-DR-005", Name: "dr-delivered", Severity: Error, Needs: Wire, Ref: "C14-9:4, :5",
		Text:  "An SMP whose hop pointer is one more than its hop count is delivered; with a greater one it is discarded.",
		Where: "verifier/smp/directed_route.go",
	},
	SMPDR006 - smpFirst: {
		ID: "SMP-DR-006", Name: "dr-first-hop-back", Severity: Error, Needs: Wire, Ref: "C14-13:1",
		Text:  "The responder counts the hop pointer down from one more than the hop count before it sends.",
		Where: "verifier/smp/directed_route.go",
	},
	SMPDR007 - smpFirst: {
		ID: "SMP-DR-007", Name: "dr-switch-back", Severity: Error, Needs: Wire, Ref: "C14-13:2",
		Text:  "On the way back each switch counts the hop pointer down and leaves the paths as they are.",
		Where: "verifier/smp/directed_route.go",
	},
	SMPDR008 - smpFirst: {
		ID: "SMP-DR-008", Name: "dr-back-at-manager", Severity: Error, Needs: Wire, Ref: "C14-13:3",
		Text:  "With hop pointer 1 on the way back it becomes 0, and the SMP is delivered, or a switch sends it on to DrSLID by LIDs where that is not permissive.",
		Where: "verifier/smp/directed_route.go",
	},
	SMPDR009 - smpFirst: {
		ID: "SMP-DR-009", Name: "dr-back-beyond", Severity: Error, Needs: Wire, Ref: "C14-13:4, :5",
		Text:  "On the way back an SMP with a hop pointer beyond one more than the hop count is discarded.",
		Where: "verifier/smp/directed_route.go",
	},
	SMPDR010 - smpFirst: {
		ID: "SMP-DR-010", Name: "dr-response-route", Severity: Error, Needs: Wire, Ref: "14.2.2",
		Text:  "An answer has the direction bit set and keeps hop count, initial path, DrSLID and DrDLID of its request, and the return path that the request recorded; a request has the bit clear.",
		Where: "verifier/smp/exchange.go",
	},
	SMPDR011 - smpFirst: {
		ID: "SMP-DR-011", Name: "dr-permissive-lids", Severity: Warning, Needs: Wire, Ref: "14.2.1.2",
		Text:  "On the directed part of a route the LIDs of the LRH are permissive.",
		Where: "verifier/smp/directed_route.go",
	},
	SMPDR012 - smpFirst: {
		ID: "SMP-DR-012", Name: "dr-path-ports", Severity: Warning, Needs: Wire, Ref: "14.2.1.2",
		Text:  "The first byte of both paths is 0, and each hop of the initial path is a port number.",
		Where: "verifier/smp/directed_route.go",
	},
	SMPMK001 - smpFirst: {
		ID: "SMP-MK-001", Name: "mkey-accepted", Severity: Error, Needs: WireQP, Ref: "14.2.4.1",
		Text:  "An SMP is taken where the M_Key of the port is 0 or that of the SMP: trap 256 does not name such a key.",
		Where: "verifier/smp/trap.go",
	},
	SMPMK002 - smpFirst: {
		ID: "SMP-MK-002", Name: "mkey-protect-get", Severity: Error, Needs: WireQP, Ref: "14.2.4.1",
		Text:  "By the protect bits a Get with a wrong M_Key is answered (0), answered with M_Key 0 in PortInfo (1), or not answered (2, 3).",
		Where: "verifier/smp/mkey.go",
	},
	SMPMK003 - smpFirst: {
		ID: "SMP-MK-003", Name: "mkey-set", Severity: Error, Needs: WireQP, Ref: "14.2.4.1",
		Text:  "A Set with a wrong M_Key changes nothing and is not answered.",
		Where: "verifier/smp/mkey.go",
	},
	SMPMK004 - smpFirst: {
		ID: "SMP-MK-004", Name: "mkey-violations", Severity: Warning, Needs: WireQP, Ref: "14.2.4.1, 14.3.9",
		Text:  "Each SMP that the M_Key check refuses counts up MKeyViolations.",
		Where: "verifier/smp/mkey.go",
	},
	SMPMK005 - smpFirst: {
		ID: "SMP-MK-005", Name: "mkey-lease", Severity: Warning, Needs: WireQP, Ref: "14.2.4.2",
		Text:  "When the lease period runs out without a valid SMP, the protect bits become 0.",
		Where: "verifier/smp/mkey.go",
	},
	SMPMK006 - smpFirst: {
		ID: "SMP-MK-006", Name: "mkey-one-set", Severity: Warning, Needs: Wire, Ref: "C14-22",
		Text:  "A manager changes M_Key, protect bits and lease period by a single Set of PortInfo.",
		Where: "verifier/smp/mkey.go",
	},
	SMPTRP001 - smpFirst: {
		ID: "SMP-TRP-001", Name: "trap-mkey", Severity: Error, Needs: Wire, Ref: "o14-1",
		Text:  "The M_Key of a trap is 0.",
		Where: "verifier/smp/trap.go",
	},
	SMPTRP002 - smpFirst: {
		ID: "SMP-TRP-002", Name: "trap-rate", Severity: Warning, Needs: Wire, Ref: "o14-2",
		Text:  "A port sends no more than one trap in 4.096 us * 2^SubnetTimeOut.",
		Where: "verifier/smp/trap.go",
	},
	SMPTRP003 - smpFirst: {
		ID: "SMP-TRP-003", Name: "trap-active", Severity: Error, Needs: Wire, Ref: "o14-3.2.1",
		Text:  "A port sends traps only while it is Active.",
		Where: "verifier/smp/trap.go",
	},
	SMPTRP004 - smpFirst: {
		ID: "SMP-TRP-004", Name: "trap-tid", Severity: Warning, Needs: Wire, Ref: "o13-5",
		Text:  "A new trap has a new TID; one that is repeated keeps its TID.",
		Where: "verifier/smp/trap.go",
	},
	SMPTRP005 - smpFirst: {
		ID: "SMP-TRP-005", Name: "trap-repress", Severity: Error, Needs: Wire, Ref: "o13-6, o13-7, o14-3.a4",
		Text:  "A TrapRepress is not answered, and ends the repetition of its trap.",
		Where: "verifier/smp/trap.go",
	},
	SMPTRP006 - smpFirst: {
		ID: "SMP-TRP-006", Name: "trap-to-manager", Severity: Warning, Needs: Wire, Ref: "14.3†",
		Text:  "A trap goes to the SMLID of its port, on its SMSL.",
		Where: "verifier/smp/trap.go",
	},
	SMPTRP007 - smpFirst: {
		ID: "SMP-TRP-007", Name: "trap-number", Severity: Warning, Needs: Wire, Ref: "14.2.5.1",
		Text:  "Generic traps have the numbers, producers and types of table T14.",
		Where: "verifier/smp/trap.go",
	},
	SMPNI001 - smpFirst: {
		ID: "SMP-NI-001", Name: "nodeinfo-fields", Severity: Error, Needs: Wire, Ref: "14.2.5.3",
		Text:  "NodeInfo has modifier 0, both versions 1, NodeType 1 to 3, and as LocalPortNum the port that received the request, which on a directed route is the last of the return path.",
		Where: "verifier/smp/response.go",
	},
	SMPNI002 - smpFirst: {
		ID: "SMP-NI-002", Name: "nodeinfo-guids", Severity: Error, Needs: Wire, Ref: "14.2.5.3",
		Text:  "NodeGUID and PortGUID are not 0; no two ports have the same PortGUID, but those of one switch, which all report that of port 0.",
		Where: "verifier/smp/response.go",
	},
	SMPND001 - smpFirst: {
		ID: "SMP-ND-001", Name: "nodedescription", Severity: Warning, Needs: Wire, Ref: "14.2.5.2",
		Text:  "NodeDescription has modifier 0 and is text in UTF-8.",
		Where: "verifier/smp/response.go",
	},
}
