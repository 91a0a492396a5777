package rule

// Communication manager.
const (
	CMFMT001 ID = iota + cmFirst
	CMFMT002
	CMFMT003
	CMFMT004
	CMFMT005
	CMTID001
	CMTID002
	CMID001
	CMID002
	CMSM001
	CMSM002
	CMSM003
	CMSM004
	CMSM005
	CMSM006
	CMSM007
	CMSM008
	CMSM009
	CMSM010
	CMSM011
	CMSM012
	CMSM013
	CMSM014
	CMSM015
	CMSM016
	CMREQ001
	CMREQ002
	CMREQ003
	CMREQ004
	CMREQ005
	CMREQ006
	CMREQ007
	CMREQ008
	CMREQ009
	CMREQ010
	CMREQ011
	CMREQ012
	CMREQ013
	CMREQ014
	CMREP001
	CMREP002
	CMREP003
	CMREJ001
	CMREJ002
	CMREJ003
	CMREJ004
	CMREJ005
	CMSID001
	CMSID002
	CMSID003
	CMLAP001
	CMLAP002
	CMIP001
	CMIP002
	CMIP003
	CMIP004
	CMADR001
	CMTMO001

	smpFirst
)

var cmRows = [smpFirst - cmFirst]Row{
	CMFMT001 - cmFirst: {
		ID: "CM-FMT-001", Name: "cm-class", Severity: Error, Needs: Wire, Ref: "12.6",
		Text:  "A message of the communication manager has management class 0x07, class version 2 and method Send; Get, Set and GetResp are only for ClassPortInfo.",
		Where: "verifier/cm/format.go",
	},
	CMFMT002 - cmFirst: {
		ID: "CM-FMT-002", Name: "cm-attribute", Severity: Error, Needs: Wire, Ref: "12.6",
		Text:  "The attribute of a message of the communication manager is one of REQ 0x10, MRA, REJ, REP, RTU, DREQ, DREP, SIDR_REQ, SIDR_REP, LAP, APR 0x1A; 0x1B and 0x1C, which suggest alternate paths, are not judged.",
		Where: "verifier/cm/format.go",
	},
	CMFMT003 - cmFirst: {
		ID: "CM-FMT-003", Name: "cm-length", Severity: Error, Needs: Wire, Ref: "12.6, Tables 106-125",
		Text:  "A message of the communication manager has 256 bytes: 24 of header and 232 of message.",
		Where: "verifier/cm/format.go",
	},
	CMFMT004 - cmFirst: {
		ID: "CM-FMT-004", Name: "cm-reserved", Severity: Warning, Needs: Wire, Ref: "12.6",
		Text:  "Reserved fields of a message of the communication manager are 0.",
		Where: "verifier/cm/format.go",
	},
	CMFMT005 - cmFirst: {
		ID: "CM-FMT-005", Name: "cm-modifier-status", Severity: Warning, Needs: Wire, Ref: "12.6",
		Text:  "Attribute modifier and status of a message of the communication manager are 0.",
		Where: "verifier/cm/format.go",
	},
	CMTID001 - cmFirst: {
		ID: "CM-TID-001", Name: "cm-transaction", Severity: Error, Needs: Wire, Ref: "12.6",
		Text:  "A REQ has a transaction ID of its own, and the MRA, REP, REJ and RTU of its exchange carry it.",
		Where: "verifier/cm/connect.go",
	},
	CMTID002 - cmFirst: {
		ID: "CM-TID-002", Name: "cm-transaction-answer", Severity: Error, Needs: Wire, Ref: "12.6",
		Text:  "DREP, APR and SIDR_REP carry the transaction ID of the DREQ, LAP or SIDR_REQ that they answer. That of a DREQ may be that of the REQ: Linux takes it from the communication ID.",
		Where: "verifier/cm/disconnect.go",
	},
	CMID001 - cmFirst: {
		ID: "CM-ID-001", Name: "cm-local-id", Severity: Error, Needs: Wire, Ref: "12.7.1†",
		Text:  "The local communication ID is not 0, names one connection, and stays the same in all messages that a side sends of it.",
		Where: "verifier/cm/connect.go",
	},
	CMID002 - cmFirst: {
		ID: "CM-ID-002", Name: "cm-remote-id", Severity: Error, Needs: Wire, Ref: "12.7.2†",
		Text:  "The remote communication ID of a message is the local one of the other side.",
		Where: "verifier/cm/identity.go",
	},
	CMSM001 - cmFirst: {
		ID: "CM-SM-001", Name: "cm-order", Severity: Error, Needs: Wire, Ref: "12.9.5†",
		Text:  "An exchange goes REQ, MRA where more time is asked for, REP, RTU: the passive side sends the REP after a REQ, the active side the RTU after the REP.",
		Where: "verifier/cm/reply.go",
	},
	CMSM002 - cmFirst: {
		ID: "CM-SM-002", Name: "cm-resend-differs", Severity: Warning, Needs: Wire, Ref: "12.9†",
		Text:  "A retransmitted REQ, REP, DREQ or LAP is identical, bit by bit.",
		Where: "verifier/cm/retransmission.go",
	},
	CMSM003 - cmFirst: {
		ID: "CM-SM-003", Name: "cm-resend-limit", Severity: Error, Needs: Wire, Ref: "12.7.27†",
		Text:  "A REQ, the REP to it, and a DREQ, is retransmitted at most as often as Max CM Retries of the REQ says.",
		Where: "verifier/cm/retransmission.go",
	},
	CMSM004 - cmFirst: {
		ID: "CM-SM-004", Name: "cm-resend-early", Severity: Warning, Needs: Wire, Ref: "12.7.4†, 12.9†",
		Text:  "A message is not retransmitted before the CM response timeout of the other side has passed.",
		Where: "verifier/cm/retransmission.go",
	},
	CMSM005 - cmFirst: {
		ID: "CM-SM-005", Name: "cm-answer-late", Severity: Warning, Needs: Wire, Ref: "12.7.4†",
		Text:  "The passive side answers a REQ within its Remote CM Response Timeout, by REP, REJ or MRA, and by REP, REJ or another MRA within what its MRA asks for.",
		Where: "verifier/cm/timer.go",
	},
	CMSM006 - cmFirst: {
		ID: "CM-SM-006", Name: "cm-mra", Severity: Error, Needs: Wire, Ref: "12.6.6",
		Text:  "An MRA is sent for a REQ, REP or LAP of the other side that is not answered; who gets one retransmits that message no sooner than its service timeout says.",
		Where: "verifier/cm/reply.go",
	},
	CMSM007 - cmFirst: {
		ID: "CM-SM-007", Name: "cm-two-replies", Severity: Error, Needs: Wire, Ref: "12.9†",
		Text:  "A REQ makes one connection: whatever is retransmitted, all REPs to it name the same communication ID and QP.",
		Where: "verifier/cm/reply.go",
	},
	CMSM008 - cmFirst: {
		ID: "CM-SM-008", Name: "cm-duplicate-in-timewait", Severity: Warning, Needs: Wire, Ref: "12.9†",
		Text:  "A REQ that is retransmitted while the QPs of its ended connection are in TimeWait is answered by REJ with reason 10, stale connection.",
		Where: "verifier/cm/reject.go",
	},
	CMSM009 - cmFirst: {
		ID: "CM-SM-009", Name: "cm-rtu-again", Severity: Warning, Needs: Wire, Ref: "12.9†",
		Text:  "When a duplicate REP reaches the active side, which has sent the RTU, it retransmits the RTU.",
		Where: "verifier/cm/timer.go",
	},
	CMSM010 - cmFirst: {
		ID: "CM-SM-010", Name: "cm-data-counts-as-rtu", Severity: Info, Needs: WireQP, Ref: "12.9.6†",
		Text:  "A request that arrives counts as the RTU: the passive side does not retransmit its REP.",
		Where: "verifier/cm/traffic.go",
	},
	CMSM011 - cmFirst: {
		ID: "CM-SM-011", Name: "cm-dreq-unanswered", Severity: Error, Needs: Wire, Ref: "12.9.7†",
		Text:  "A DREQ is answered by DREP, whether the connection is known or not; a DREQ of the other side that crosses it does too.",
		Where: "verifier/cm/timer.go",
	},
	CMSM012 - cmFirst: {
		ID: "CM-SM-012", Name: "cm-timewait", Severity: Warning, Needs: Wire, Ref: "12.9.8.4†",
		Text:  "After the DREP a QP sends nothing, and is not connected again, for at least the round trip and the ACK delay.",
		Where: "verifier/cm/disconnect.go",
	},
	CMSM013 - cmFirst: {
		ID: "CM-SM-013", Name: "cm-after-rej", Severity: Error, Needs: Wire, Ref: "12.6.7",
		Text:  "REJ ends the exchange: no REP, RTU or DREQ of it follows.",
		Where: "verifier/cm/reject.go",
	},
	CMSM014 - cmFirst: {
		ID: "CM-SM-014", Name: "cm-rej-timeout", Severity: Warning, Needs: Wire, Ref: "12.6.7.2†",
		Text:  "A REJ for lack of an answer names in its additional information the GUID of the sender's channel adapter.",
		Where: "verifier/cm/reject.go",
	},
	CMSM015 - cmFirst: {
		ID: "CM-SM-015", Name: "cm-stale", Severity: Warning, Needs: Wire, Ref: "12.9.8.3.1",
		Text:  "A REQ or REP that names a QP and channel adapter which are connected is answered by REJ with reason 10, stale connection.",
		Where: "verifier/cm/disconnect.go",
	},
	CMSM016 - cmFirst: {
		ID: "CM-SM-016", Name: "cm-data-before-rtu", Severity: Warning, Needs: Wire, Ref: "12.9†",
		Text:  "The active side sends its RTU before its first request, and the passive side sends none before the RTU or a request has come.",
		Where: "verifier/cm/traffic.go",
	},
	CMREQ001 - cmFirst: {
		ID: "CM-REQ-001", Name: "cm-qpn", Severity: Error, Needs: Wire, Ref: "12.7.12†",
		Text:  "A REQ, and a REP, names the QP that its sender is connected by, which is not QP 0 or 1: REP, DREQ and LAP, retransmissions, and the packets of the connection name the same. A single packet to another QP is BTH-011.",
		Where: "verifier/cm/connect.go",
	},
	CMREQ002 - cmFirst: {
		ID: "CM-REQ-002", Name: "cm-start-psn", Severity: Error, Needs: Wire, Ref: "12.7.31†",
		Text:  "The start PSN that a REQ or REP tells its receiver to begin with stays the same when it is retransmitted. Requests that begin elsewhere are RC-PSN-001 and UC-PSN-001.",
		Where: "verifier/cm/connect.go",
	},
	CMREQ003 - cmFirst: {
		ID: "CM-REQ-003", Name: "cm-path-mtu", Severity: Error, Needs: Wire, Ref: "12.7.29†",
		Text:  "The path MTU code of a REQ is 1 to 5. Packets that do not keep to it are RC-LEN-001, RC-LEN-003 and UC-LEN-003.",
		Where: "verifier/cm/format.go",
	},
	CMREQ004 - cmFirst: {
		ID: "CM-REQ-004", Name: "cm-transport", Severity: Warning, Needs: Wire, Ref: "12.7.26†",
		Text:  "The transport service of a REQ is RC, UC, RD, or the extended one of XRC. Packets of another service are BTH-004.",
		Where: "verifier/cm/format.go",
	},
	CMREQ005 - cmFirst: {
		ID: "CM-REQ-005", Name: "cm-pkey", Severity: Error, Needs: Wire, Ref: "12.7.24†",
		Text:  "The P_Key of a REQ is a valid one. Packets with another one are PKY-004.",
		Where: "verifier/cm/format.go",
	},
	CMREQ006 - cmFirst: {
		ID: "CM-REQ-006", Name: "cm-read-depth", Severity: Error, Needs: Wire, Ref: "12.7.29†, 12.7.30†",
		Text:  "The initiator depth of a REP is at most the responder resources of its REQ. More READs and atomics than agreed are RC-RDA-002.",
		Where: "verifier/cm/format.go",
	},
	CMREQ007 - cmFirst: {
		ID: "CM-REQ-007", Name: "cm-retry-counts", Severity: Error, Needs: Wire, Ref: "12.7†",
		Text:  "The retry count and RNR retry count that a REQ or REP gives its receiver's requester stay the same when it is retransmitted. Requesters that exceed them are RC-RTY-001 and RC-RNR-003.",
		Where: "verifier/cm/connect.go",
	},
	CMREQ008 - cmFirst: {
		ID: "CM-REQ-008", Name: "cm-ack-timeout", Severity: Warning, Needs: Wire, Ref: "12.7.34",
		Text:  "The local ACK timeout that a REQ gives its receiver is at least the ACK delay of the sender's channel adapter, where a REP of it told that. Requesters that do not keep to it are RC-TMO-002.",
		Where: "verifier/cm/format.go",
	},
	CMREQ009 - cmFirst: {
		ID: "CM-REQ-009", Name: "cm-path-lid", Severity: Error, Needs: Wire, Ref: "12.7.11†",
		Text:  "On a path within the subnet the LIDs of a REQ are unicast LIDs, else 0xFFFF.",
		Where: "verifier/cm/path.go",
	},
	CMREQ010 - cmFirst: {
		ID: "CM-REQ-010", Name: "cm-path-gid", Severity: Error, Needs: Wire, Ref: "12.7†",
		Text:  "The GIDs of the primary path of a REQ are unicast GIDs.",
		Where: "verifier/cm/path.go",
	},
	CMREQ011 - cmFirst: {
		ID: "CM-REQ-011", Name: "cm-alternate-path", Severity: Warning, Needs: Wire, Ref: "12.7.21†",
		Text:  "The alternate path of a REQ is all 0, or has unicast GIDs, and LIDs as the primary path; that of a LAP has them.",
		Where: "verifier/cm/path.go",
	},
	CMREQ012 - cmFirst: {
		ID: "CM-REQ-012", Name: "cm-flow-control", Severity: Warning, Needs: Wire, Ref: "12.7.26†",
		Text:  "End-to-end flow control is asked for on RC only. Responders that do not keep to what they said are RC-CRD-001.",
		Where: "verifier/cm/format.go",
	},
	CMREQ013 - cmFirst: {
		ID: "CM-REQ-013", Name: "cm-rd-fields", Severity: Warning, Needs: Wire, Ref: "12.7†",
		Text:  "RDC Exists, Q_Key and EECNs of a REQ, and Q_Key and EECN of its REP, are 0 where the service is not RD.",
		Where: "verifier/cm/format.go",
	},
	CMREQ014 - cmFirst: {
		ID: "CM-REQ-014", Name: "cm-subnet-local", Severity: Warning, Needs: Wire, Ref: "CA17-34",
		Text:  "Subnet Local is 1 exactly with a hop limit of 0 or 1, as Linux has it.",
		Where: "verifier/cm/path.go",
	},
	CMREP001 - cmFirst: {
		ID: "CM-REP-001", Name: "cm-target-ack-delay", Severity: Warning, Needs: Wire, Ref: "12.7.33†",
		Text:  "The target ACK delay of a REP is that of the channel adapter: the same in all its REPs.",
		Where: "verifier/cm/format.go",
	},
	CMREP002 - cmFirst: {
		ID: "CM-REP-002", Name: "cm-failover", Severity: Warning, Needs: Wire, Ref: "12.7†",
		Text:  "Failover Accepted of a REP is 0, 1 or 2, and 2, rejected, only where the REQ gave an alternate path.",
		Where: "verifier/cm/format.go",
	},
	CMREP003 - cmFirst: {
		ID: "CM-REP-003", Name: "cm-rep-numbers", Severity: Warning, Needs: Wire, Ref: "12.7†",
		Text:  "A REP names a QP above QP1 and a channel adapter.",
		Where: "verifier/cm/format.go",
	},
	CMREJ001 - cmFirst: {
		ID: "CM-REJ-001", Name: "cm-rej-reason", Severity: Error, Needs: Wire, Ref: "12.6.7.2†",
		Text:  "The reason of a REJ is 1 to 33, or 35.",
		Where: "verifier/cm/reject.go",
	},
	CMREJ002 - cmFirst: {
		ID: "CM-REJ-002", Name: "cm-rej-message", Severity: Error, Needs: Wire, Ref: "12.6.7.1†",
		Text:  "Message Rejected of a REJ is 0 for a REQ, which the passive side rejects, 1 for a REP, which the active side rejects, or 2.",
		Where: "verifier/cm/reject.go",
	},
	CMREJ003 - cmFirst: {
		ID: "CM-REJ-003", Name: "cm-rej-info", Severity: Warning, Needs: Wire, Ref: "12.6.7.2†",
		Text:  "The additional information of a REJ has at most 72 bytes, and where there is any, as many as the reason calls for: 8 of a GUID, 16 of a GID, 2 of a LID, 72 of a ClassPortInfo.",
		Where: "verifier/cm/reject.go",
	},
	CMREJ004 - cmFirst: {
		ID: "CM-REJ-004", Name: "cm-rej-consumer", Severity: Info, Needs: Wire, Ref: "12.6.7.2†",
		Text:   "A REJ with reason 28 says that the consumer refused; its private data is the consumer's.",
		NotWhy: "A definition: what made a consumer or its communication manager refuse is not visible on any wire, and private data may have any content.",
	},
	CMREJ005 - cmFirst: {
		ID: "CM-REJ-005", Name: "cm-rej-lid-on-roce", Severity: Error, Needs: Wire, Ref: "CA17-35",
		Text:  "Reasons that speak of a LID, 13 and 19, are not sent on RoCEv2.",
		Where: "verifier/cm/reject.go",
	},
	CMSID001 - cmFirst: {
		ID: "CM-SID-001", Name: "cm-sidr-answer", Severity: Error, Needs: Wire, Ref: "12.11†",
		Text:  "A SIDR_REP repeats the request ID and the service ID of its SIDR_REQ, and names a QP where its status is 0.",
		Where: "verifier/cm/sidr.go",
	},
	CMSID002 - cmFirst: {
		ID: "CM-SID-002", Name: "cm-sidr-status", Severity: Error, Needs: Wire, Ref: "12.11†",
		Text:  "The status of a SIDR_REP is 0 to 5.",
		Where: "verifier/cm/sidr.go",
	},
	CMSID003 - cmFirst: {
		ID: "CM-SID-003", Name: "cm-sidr-pkey", Severity: Warning, Needs: Wire, Ref: "12.11†",
		Text:  "A SIDR_REQ names a partition, and its SIDR_REP comes in it.",
		Where: "verifier/cm/sidr.go",
	},
	CMLAP001 - cmFirst: {
		ID: "CM-LAP-001", Name: "cm-lap", Severity: Warning, Needs: Wire, Ref: "12.8†",
		Text:  "A LAP is sent within an established connection only, and the status of its APR is 0 to 13.",
		Where: "verifier/cm/alternate.go",
	},
	CMLAP002 - cmFirst: {
		ID: "CM-LAP-002", Name: "cm-lap-outstanding", Severity: Warning, Needs: Wire, Ref: "12.8†",
		Text:  "A side sends no LAP while an older one waits for its APR.",
		Where: "verifier/cm/alternate.go",
	},
	CMIP001 - cmFirst: {
		ID: "CM-IP-001", Name: "cm-ip-service", Severity: Error, Needs: Wire, Ref: "A11",
		Text:  "A service ID of the RDMA IP CM service is 0x0000000001, the protocol, 6 or 17, and a port.",
		Where: "verifier/cm/ip.go",
	},
	CMIP002 - cmFirst: {
		ID: "CM-IP-002", Name: "cm-ip-header", Severity: Error, Needs: Wire, Ref: "A11",
		Text:  "Private data for the RDMA IP CM service begins with version 0, the IP version, 4 or 6, and 4 reserved bits.",
		Where: "verifier/cm/ip.go",
	},
	CMIP003 - cmFirst: {
		ID: "CM-IP-003", Name: "cm-ip-zeros", Severity: Warning, Needs: Wire, Ref: "A11",
		Text:  "An IPv4 address in private data follows 12 bytes of 0.",
		Where: "verifier/cm/ip.go",
	},
	CMIP004 - cmFirst: {
		ID: "CM-IP-004", Name: "cm-ip-addresses", Severity: Info, Needs: Wire, Ref: "A17",
		Text:  "On RoCEv2 the addresses in private data are those of the packet.",
		Where: "verifier/cm/ip.go",
	},
	CMADR001 - cmFirst: {
		ID: "CM-ADR-001", Name: "cm-queue-pairs", Severity: Error, Needs: Wire, Ref: "12.6, 13.5†",
		Text:  "Messages go from QP1 to QP1, unless a side was redirected.",
		Where: "verifier/cm/format.go",
	},
	CMTMO001 - cmFirst: {
		ID: "CM-TMO-001", Name: "cm-timeout-code", Severity: Info, Needs: Wire, Ref: "12.7†",
		Text:   "A timeout code n means 4.096 us times 2 to the power of n.",
		NotWhy: "Judged as CM-SM-004, CM-SM-005 and CM-SM-006: a definition that they judge by.",
	},
}
