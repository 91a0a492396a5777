package rule

// Subnet administration.
const (
	MADSA001 ID = iota + saFirst
	MADSA002
	MADSA003
	MADSA004
	MADSA005
	MADSA006
	MADSA007
	MADSA008
	MADSA009
	MADSA010
	MADSA011
	MADSA012
	MADMC001
	MADMC002
	MADMC003
	MADMC004
	MADMC005
	MADMC006
	MADMC007
	MADMC008

	rmppFirst
)

var saRows = [rmppFirst - saFirst]Row{
	MADSA001 - saFirst: {
		ID: "MAD-SA-001", Name: "sa-header", Severity: Error, Needs: Wire, Ref: "15.2.1, Table 185",
		Text:  "Subnet administration is of class version 2, and the reserved bytes 46 and 47 are 0.",
		Where: "verifier/gmp/sa.go",
	},
	MADSA002 - saFirst: {
		ID: "MAD-SA-002", Name: "sa-response-key", Severity: Error, Needs: Wire, Ref: "C15-0.1.5",
		Text:  "The SM_Key in a response of the subnet administrator is 0.",
		Where: "verifier/gmp/sa.go",
	},
	MADSA003 - saFirst: {
		ID: "MAD-SA-003", Name: "sa-request-key", Severity: Error, Needs: Wire, Ref: "C15-0.1.5",
		Text:  "A request with an SM_Key that is neither 0 nor the right one is not answered. Never proven: the right one is in no packet.",
		Where: "verifier/gmp/sa.go",
	},
	MADSA004 - saFirst: {
		ID: "MAD-SA-004", Name: "sa-master", Severity: Error, Needs: Wire, Ref: "C15-0.1.3",
		Text:  "Only the subnet administrator of the master subnet manager answers.",
		Where: "verifier/gmp/sa.go",
	},
	MADSA005 - saFirst: {
		ID: "MAD-SA-005", Name: "sa-count", Severity: Error, Needs: Wire, Ref: "C15-0.1.30",
		Text:  "A Get that matches several records is answered with status 0x0400, one that matches none with 0x0300; a GetTable that matches none with success and no record.",
		Where: "verifier/gmp/sa.go",
	},
	MADSA006 - saFirst: {
		ID: "MAD-SA-006", Name: "sa-table", Severity: Error, Needs: Wire, Ref: "15.2.2",
		Text:  "Answers to GetTable and GetMulti are carried by RMPP, and AttributeOffset is the size of a record in units of 8 bytes.",
		Where: "verifier/gmp/sa.go",
	},
	MADSA007 - saFirst: {
		ID: "MAD-SA-007", Name: "multipath-answer", Severity: Error, Needs: Wire, Ref: "o15-0.2.7, o15-0.2-1.11",
		Text:  "GetMulti(MultiPathRecord) is answered with PathRecords.",
		Where: "verifier/gmp/sa.go",
	},
	MADSA008 - saFirst: {
		ID: "MAD-SA-008", Name: "component-mask", Severity: Warning, Needs: Wire, Ref: "C15-0.1.27",
		Text:  "Each bit of the component mask selects a component of the attribute, in their order; there are none after the last.",
		Where: "verifier/gmp/sa.go",
	},
	MADSA009 - saFirst: {
		ID: "MAD-SA-009", Name: "sa-status", Severity: Error, Needs: Wire, Ref: "15.4†",
		Text:  "The class-specific status of subnet administration is one of 0x0100 to 0x0800.",
		Where: "verifier/gmp/sa.go",
	},
	MADSA010 - saFirst: {
		ID: "MAD-SA-010", Name: "sa-trusted", Severity: Warning, Needs: Wire, Ref: "C15-0.1.23.1, C15-0.1.23.2",
		Text:  "Only requests with the SM_Key get the M_Key of a PortInfoRecord, P_KeyTableRecords and ServiceAssociationRecords.",
		Where: "verifier/gmp/sa.go",
	},
	MADSA011 - saFirst: {
		ID: "MAD-SA-011", Name: "inform-record-qpn", Severity: Warning, Needs: Wire, Ref: "C15-0.1.23.4, C15-0.2-1.16",
		Text:  "An InformInfoRecord for a request without SM_Key has QPN 0.",
		Where: "verifier/gmp/sa.go",
	},
	MADSA012 - saFirst: {
		ID: "MAD-SA-012", Name: "path-record", Severity: Error, Needs: Wire, Ref: "15.2.5.16",
		Text:  "A PathRecord that is returned has unicast LIDs and GIDs, and what the request gave: ports, P_Key, SL, reversibility, and MTU, rate and lifetime by their selectors.",
		Where: "verifier/gmp/path.go",
	},
	MADMC001 - saFirst: {
		ID: "MAD-MC-001", Name: "mgid", Severity: Error, Needs: Wire, Ref: "o15-0.1.5",
		Text:  "An MGID begins with 0xFF, flags 000T and a scope of 2, 5, 8 or 0xE; signature 0xA01B is not of link-local scope.",
		Where: "verifier/gmp/multicast.go",
	},
	MADMC002 - saFirst: {
		ID: "MAD-MC-002", Name: "join-existing", Severity: Error, Needs: Wire, Ref: "o15-0.2.4",
		Text:  "A group is joined only with a JoinState that is not 0, and with components that are those of the group.",
		Where: "verifier/gmp/multicast.go",
	},
	MADMC003 - saFirst: {
		ID: "MAD-MC-003", Name: "join-create", Severity: Error, Needs: Wire, Ref: "o15-0.2.3",
		Text:  "A group is created only by a full member that gives all the components that this takes.",
		Where: "verifier/gmp/multicast.go",
	},
	MADMC004 - saFirst: {
		ID: "MAD-MC-004", Name: "join-proxy", Severity: Error, Needs: Wire, Ref: "o15-0.1.2, o15-0.2.1",
		Text:  "A membership is changed only by its port, or by another where ProxyJoin is set.",
		Where: "verifier/gmp/multicast.go",
	},
	MADMC005 - saFirst: {
		ID: "MAD-MC-005", Name: "leave", Severity: Error, Needs: Wire, Ref: "o15-0.1.14",
		Text:  "A leave names states that the member has, and no other; else it is refused.",
		Where: "verifier/gmp/multicast.go",
	},
	MADMC006 - saFirst: {
		ID: "MAD-MC-006", Name: "mlid", Severity: Error, Needs: Wire, Ref: "15.2.5.17",
		Text:  "The MLID of an MCMemberRecord that is returned is from 0xC000 to 0xFFFE.",
		Where: "verifier/gmp/multicast.go",
	},
	MADMC007 - saFirst: {
		ID: "MAD-MC-007", Name: "group-notice", Severity: Warning, Needs: Wire, Ref: "o14-12.1.11",
		Text:  "A notice that a group was created or deleted (66, 67) names its MGID.",
		Where: "verifier/gmp/inform.go",
	},
	MADMC008 - saFirst: {
		ID: "MAD-MC-008", Name: "port-notice", Severity: Warning, Needs: Wire, Ref: "C14-72.1.1, C14-72.1.2",
		Text:  "A notice that a port has come or gone (64, 65) names its GID.",
		Where: "verifier/gmp/inform.go",
	},
}
