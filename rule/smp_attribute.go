package rule

// smpAttributes is the first rule on attributes.
const smpAttributes = SMPSI001

// smpAttributeRows are of the attributes.
var smpAttributeRows = [madFirst - smpAttributes]Row{
	SMPSI001 - smpAttributes: {
		ID: "SMP-SI-001", Name: "switch-only", Severity: Error, Needs: Wire, Ref: "14.2.5.4",
		Text:  "SwitchInfo and forwarding tables are those of switches: others answer with a status.",
		Where: "verifier/smp/response.go",
	},
	SMPSI002 - smpAttributes: {
		ID: "SMP-SI-002", Name: "switchinfo-top", Severity: Warning, Needs: Wire, Ref: "14.2.5.4",
		Text:  "LinearFDBTop of SwitchInfo is below LinearFDBCap.",
		Where: "verifier/smp/response.go",
	},
	SMPPI001 - smpAttributes: {
		ID: "SMP-PI-001", Name: "portinfo-number", Severity: Error, Needs: Wire, Ref: "14.2.5.6",
		Text:  "PortInfo is of a port that the node has: else the answer has a status.",
		Where: "verifier/smp/portinfo.go",
	},
	SMPPI002 - smpAttributes: {
		ID: "SMP-PI-002", Name: "portinfo-lid", Severity: Error, Needs: Wire, Ref: "14.2.5.6",
		Text:  "A Set of PortInfo gives unicast LIDs, the port's a multiple of 2^LMC: else the answer has a status.",
		Where: "verifier/smp/portinfo_set.go",
	},
	SMPPI003 - smpAttributes: {
		ID: "SMP-PI-003", Name: "portinfo-width", Severity: Error, Needs: Wire, Ref: "14.2.6.6",
		Text:  "LinkWidthEnabled is within LinkWidthSupported, also where it is set, and LinkWidthActive is one width.",
		Where: "verifier/smp/portinfo.go",
	},
	SMPPI004 - smpAttributes: {
		ID: "SMP-PI-004", Name: "portinfo-speed", Severity: Error, Needs: Wire, Ref: "14.2.5.6",
		Text:  "LinkSpeedEnabled is within LinkSpeedSupported, also where it is set, and LinkSpeedActive is one speed.",
		Where: "verifier/smp/portinfo.go",
	},
	SMPPI005 - smpAttributes: {
		ID: "SMP-PI-005", Name: "portinfo-mtu-vls", Severity: Error, Needs: Wire, Ref: "14.2.5.6",
		Text:  "NeighborMTU is 1 to 5 and at most MTUCap, OperationalVLs at most VLCap, of a port that is Armed or Active, and where they are set.",
		Where: "verifier/smp/portinfo.go",
	},
	SMPPI006 - smpAttributes: {
		ID: "SMP-PI-006", Name: "portinfo-state", Severity: Error, Needs: Wire, Ref: "14.2.5.6, 7.2.7",
		Text:  "A Set takes a port to Down, from Initialize to Armed, or from Armed to Active; anything else is answered with a status.",
		Where: "verifier/smp/portinfo_set.go",
	},
	SMPPI007 - smpAttributes: {
		ID: "SMP-PI-007", Name: "portinfo-physical", Severity: Error, Needs: Wire, Ref: "14.2.5.6",
		Text:  "The physical state is set to 1, 2 or 3, together with PortState Down or none: else the answer has a status.",
		Where: "verifier/smp/portinfo_set.go",
	},
	SMPPI008 - smpAttributes: {
		ID: "SMP-PI-008", Name: "portinfo-reregister", Severity: Warning, Needs: Wire, Ref: "o14-12.2.1",
		Text:  "ClientReregister is returned in the answer to the Set that has it, and not stored.",
		Where: "verifier/smp/portinfo.go",
	},
	SMPPI009 - smpAttributes: {
		ID: "SMP-PI-009", Name: "portinfo-down", Severity: Info, Needs: Wire, Ref: "C14-24.2.1",
		Text:   "Of a port that is Down only the states mean something.",
		NotWhy: "Judged as SMP-PI-003, SMP-PI-004, SMP-PI-005, SMP-PI-008, SMP-PI-012 and SMP-RT-001, which do not judge ports that are Down (smp_attribute.txt has the same bytes of both).",
	},
	SMPPI010 - smpAttributes: {
		ID: "SMP-PI-010", Name: "portinfo-violations", Severity: Warning, Needs: Wire, Ref: "14.2.5.6",
		Text:  "Counters of violations stop at 65535 and fall only when they are set to 0.",
		Where: "verifier/smp/mkey.go",
	},
	SMPPI011 - smpAttributes: {
		ID: "SMP-PI-011", Name: "portinfo-response-time", Severity: Warning, Needs: Wire, Ref: "14.2.5.6, 13.4.6.2†",
		Text:  "A node answers within 4.096 us * 2^RespTimeValue.",
		Where: "verifier/smp/exchange.go",
	},
	SMPPI012 - smpAttributes: {
		ID: "SMP-PI-012", Name: "portinfo-constant", Severity: Warning, Needs: Wire, Ref: "14.2.5.6",
		Text:  "The GID prefix is valid, and the capability mask constant, but for what software switches: IsSM and the like.",
		Where: "verifier/smp/portinfo.go",
	},
	SMPPK001 - smpAttributes: {
		ID: "SMP-PK-001", Name: "pkey-block", Severity: Error, Needs: Wire, Ref: "14.2.5.7",
		Text:  "A block of the P_Key table is within PartitionCap, or at a switch port PartitionEnforcementCap: else the answer has a status.",
		Where: "verifier/smp/table_response.go",
	},
	SMPPK002 - smpAttributes: {
		ID: "SMP-PK-002", Name: "pkey-table-default", Severity: Error, Needs: Wire, Ref: "C14-62.1.1 Table 183",
		Text:  "A manager leaves the default P_Key, 0xffff or 0x7fff, in the table of each end port.",
		Where: "verifier/smp/table.go",
	},
	SMPPK003 - smpAttributes: {
		ID: "SMP-PK-003", Name: "pkey-twice", Severity: Warning, Needs: Wire, Ref: "10.9.3, C10-116",
		Text:  "No valid entry of a P_Key table is there twice.",
		Where: "verifier/smp/table.go",
	},
	SMPSV001 - smpAttributes: {
		ID: "SMP-SV-001", Name: "sltovl-table", Severity: Error, Needs: Wire, Ref: "14.2.5.8",
		Text:  "The modifier of a SLtoVLMappingTable has the output port in bits 7:0, the input port in bits 15:8 and 0 above; the ports are those of the node, port 0 where it is an enhanced one. Its lanes are in use, or 15 to drop.",
		Where: "verifier/smp/table.go",
	},
	SMPSV002 - smpAttributes: {
		ID: "SMP-SV-002", Name: "sltovl-supported", Severity: Warning, Needs: Wire, Ref: "14.2.5.8",
		Text:  "A port whose capability mask has no SL mapping has one VL, and answers Get and Set of SLtoVLMappingTable with a status.",
		Where: "verifier/smp/table_response.go",
	},
	SMPSV003 - smpAttributes: {
		ID: "SMP-SV-003", Name: "sltovl-obeyed", Severity: Warning, Needs: Wire, Ref: "7.6.6",
		Text:  "A port sends each packet on the VL that its table has for the SL.",
		Where: "verifier/smp/data.go",
	},
	SMPVA001 - smpAttributes: {
		ID: "SMP-VA-001", Name: "vlarb-block", Severity: Error, Needs: Wire, Ref: "14.2.5.9",
		Text:  "VLArbitrationTable has the blocks 1 to 4 and entries of data VLs.",
		Where: "verifier/smp/table.go",
	},
	SMPVA002 - smpAttributes: {
		ID: "SMP-VA-002", Name: "vlarb-size", Severity: Warning, Needs: Wire, Ref: "14.2.5.9",
		Text:  "Entries are within VLArbitrationLowCap and HighCap, and of VLs in use.",
		Where: "verifier/smp/table.go",
	},
	SMPVA003 - smpAttributes: {
		ID: "SMP-VA-003", Name: "vlarb-high-limit", Severity: Info, Needs: Wire, Ref: "C14-62.1.1.11",
		Text:   "VLHighLimit of PortInfo is that of the policy.",
		NotWhy: "The policy is the administrator's: no wire shows it.",
	},
	SMPLF001 - smpAttributes: {
		ID: "SMP-LF-001", Name: "linear-table", Severity: Error, Needs: Wire, Ref: "14.2.5.10",
		Text:  "A block of the linear forwarding table is within LinearFDBCap; its entries are ports of the switch, or 255 for no route.",
		Where: "verifier/smp/table.go",
	},
	SMPLF002 - smpAttributes: {
		ID: "SMP-LF-002", Name: "linear-obeyed", Severity: Warning, Needs: Wire, Ref: "18.2.4.3†",
		Text:  "A switch drops what goes to a LID that has no route.",
		Where: "verifier/smp/data.go",
	},
	SMPMF001 - smpAttributes: {
		ID: "SMP-MF-001", Name: "multicast-table", Severity: Warning, Needs: Wire, Ref: "14.2.5.12",
		Text:  "The modifier of the multicast forwarding table has the block in bits 8:0, the position in bits 31:28 and 0 between; its masks are of ports of the switch.",
		Where: "verifier/smp/table.go",
	},
	SMPRF001 - smpAttributes: {
		ID: "SMP-RF-001", Name: "random-table", Severity: Warning, Needs: Wire, Ref: "14.2.5.11",
		Text:  "The reserved bits of the random forwarding table are 0, and its blocks within RandomFDBCap.",
		Where: "verifier/smp/table.go",
	},
	SMPGI001 - smpAttributes: {
		ID: "SMP-GI-001", Name: "guidinfo", Severity: Warning, Needs: Wire, Ref: "14.2.5.5",
		Text:  "The first GUID of a port is its PortGUID, and blocks are within GUIDCap.",
		Where: "verifier/smp/table_response.go",
	},
	SMPSMI001 - smpAttributes: {
		ID: "SMP-SMI-001", Name: "sminfo-set", Severity: Error, Needs: Wire, Ref: "C14-38.1.1, 14.4.1",
		Text:  "Set(SMInfo) has modifier 1 to 5, of which all but 2 come from the master; else the answer has a status.",
		Where: "verifier/smp/manager.go",
	},
	SMPSMI002 - smpAttributes: {
		ID: "SMP-SMI-002", Name: "sminfo-state", Severity: Warning, Needs: Wire, Ref: "14.2.5.13",
		Text:  "SMState is 0 to 3, and ActCount does not fall.",
		Where: "verifier/smp/manager.go",
	},
	SMPSMI003 - smpAttributes: {
		ID: "SMP-SMI-003", Name: "sminfo-election", Severity: Warning, Needs: Wire, Ref: "C14-60.2.1, 14.4†",
		Text:  "Of two masters the one with the lower priority, or the same and the higher GUID, gives way.",
		Where: "verifier/smp/manager.go",
	},
	SMPSMI004 - smpAttributes: {
		ID: "SMP-SMI-004", Name: "sminfo-mkey", Severity: Warning, Needs: Wire, Ref: "C14-67",
		Text:  "A SMInfo request with an M_Key other than 0 is answered only where it is that of the port.",
		Where: "verifier/smp/mkey.go",
	},
	SMPSMI005 - smpAttributes: {
		ID: "SMP-SMI-005", Name: "sminfo-polling", Severity: Info, Needs: Wire, Ref: "14.4†",
		Text:   "A standby manager asks the master for its SMInfo now and then, and may take over when no answer comes.",
		NotWhy: "Judged as SMP-SMI-003, where it takes over beside a master that goes on, and as SMP-SMI-001, where it gives orders while it says that it is no master; how often it asks is its own choice.",
	},
	SMPVD001 - smpAttributes: {
		ID: "SMP-VD-001", Name: "vendordiag-ledinfo", Severity: Info, Needs: Wire, Ref: "14.2.5.14-15",
		Text:  "VendorDiag is read only; of LedInfo only bit 31 is used.",
		Where: "verifier/smp/response.go",
	},
	SMPPM001 - smpAttributes: {
		ID: "SMP-PM-001", Name: "port-is-sm", Severity: Info, Needs: Wire, Ref: "14.2.5.6",
		Text:  "The capability mask has IsSM exactly where a subnet manager runs.",
		Where: "verifier/smp/manager.go",
	},
	SMPRT001 - smpAttributes: {
		ID: "SMP-RT-001", Name: "lid-unique", Severity: Warning, Needs: Wire, Ref: "4.1†",
		Text:  "No two ports have a LID in common.",
		Where: "verifier/smp/portinfo.go",
	},
}
