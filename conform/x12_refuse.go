package conform

import (
	"fmt"
	"slices"

	"ibwitness/hcaagent/cma"
	"ibwitness/mad"
	"ibwitness/packet"
)

// refuseTests are those of what a communication manager rejects, and of its other services.
var refuseTests = []*Test{stale, requestsRefused, withoutLIDs, otherServices}

// Reasons of a REJ that package mad has no name for.
const (
	rejTransport = 9
	rejGID       = 12
	rejLID       = 13
	rejOtherLID  = 19
	rejMTU       = 26
)

// rejected sends a REQ, and judges that a REJ with one of some reasons answers it; without reasons any one does.
func (r *run) rejected(id, what string, q *mad.REQ, reasons ...mad.RejReason) *packet.Packet {
	sent, m := r.says(q), new(mad.REJ)
	got := r.expect(id, sent, mad.AttrREJ, q.TID, m)
	if got != nil {
		ok := m.Rejected == mad.AnsweredREQ && m.RemoteCommID == q.LocalCommID && (len(reasons) == 0 || slices.Contains(reasons, m.Reason))
		r.check(id, ok, fmt.Sprintf("REJ of the REQ %#x, %s, reason of %v", q.LocalCommID, what, reasons), fmt.Sprintf("of message %d, %#x, reason %d", m.Rejected, m.RemoteCommID, m.Reason), sent, got)
	}
	return got
}

var stale = &Test{
	ID: "X12_005", Title: "stale connections",
	Abstract: "A REQ for a queue pair of the tester that is connected is rejected as stale, and the connection of old is ended; so is a duplicate in TimeWait.",
	Covers:   []Statement{{"", NoneID}}, Topology: cmTopology, Needs: Control | Communication,
	Setup: []string{"Make two queue pairs of RC of the device and bring them to RTS; its consumer listens with them for a service."},
	Procedure: []string{
		"Make a connection by REQ, REP and RTU. Send its DREQ, take the DREP, and retransmit its REQ.",
		"Make a second connection with another queue pair of the tester.",
		"Send a REQ with another communication ID for the same queue pair of the tester, and answer the DREQ.",
	},
	Assertions: []Assertion{
		{"ours#01", "A REP answers each REQ, and a DREP the DREQ, with its transaction ID."},
		{"ours#02", "The REQ in TimeWait is answered by REJ with reason 10."},
		{"ours#03", "The REQ for a queue pair that is connected is answered by REJ with reason 10."},
		{"ours#04", "A DREQ of the second connection follows."},
	},
	run: func(r *run) {
		c, d := r.listens(), r.listens()
		r.at(1)
		q, rep := r.established("ours#01", c)
		bye := r.disconnect(q.LocalCommID, rep.LocalCommID, rep.LocalQPN)
		r.expect("ours#01", r.says(bye), mad.AttrDREP, bye.TID, new(mad.DREP))
		r.rejected("ours#02", "in TimeWait", q, mad.RejStale)
		r.at(2)
		old, rep := r.established("ours#01", d)
		r.at(3)
		again := r.request(d)
		got := r.rejected("ours#03", "for a queue pair that is connected", again, mad.RejStale)
		p, h := r.message(cmWindow)
		var m mad.DREQ
		ok := p != nil && h.Attribute == mad.AttrDREQ && m.Decode(p.Payload) == nil && m.RemoteCommID == old.LocalCommID && m.LocalCommID == rep.LocalCommID
		r.check("ours#04", ok, fmt.Sprintf("DREQ of %#x", old.LocalCommID), happenedCM(p, h), got, p)
		if ok {
			r.says(&mad.DREP{Header: mad.CMHeader(mad.AttrDREP, m.TID), LocalCommID: m.RemoteCommID, RemoteCommID: m.LocalCommID})
		}
	},
}

// happenedCM says which message came.
func happenedCM(p *packet.Packet, h mad.Header) string {
	if p == nil {
		return "no message"
	}
	return h.AttributeName()
}

var requestsRefused = &Test{
	ID: "X12_006", Title: "REQs that cannot be accepted",
	Abstract: "A REQ that the device cannot accept is rejected with the reason that it has.",
	Covers:   []Statement{{"", NoneID}}, Topology: cmTopology, Needs: Control | Communication,
	Setup: []string{cmSetup},
	Procedure: []string{
		"Send REQs, each with one thing changed: for a service that the device does not have, with path MTU code 6, for RD, with another GID as that of the device, and with a P_Key that the device does not have.",
		"Send a REQ with initiator depth and responder resources 255.",
	},
	Assertions: []Assertion{
		{"ours#01", "A service that is not there is rejected with reason 8."},
		{"ours#02", "Path MTU code 6 is rejected with reason 26."},
		{"ours#03", "RD is rejected with reason 9."},
		{"ours#04", "Another GID is rejected with reason 12."},
		{"ours#05", "Another P_Key is rejected."},
		{"ours#06", "The REQ of 255 is accepted by a REP that names at most as many READs and atomics."},
	},
	Decisions: []Decision{
		{"No reason speaks of a P_Key.", "Any reason passes."},
		{"Depth 255 is named among what is rejected.", "It is an upper bound, of which the REP takes what the device has: it is accepted."},
	},
	Breaks: []string{"CM-REQ-003"},
	run: func(r *run) {
		c := r.listens()
		r.at(1)
		for _, x := range []struct {
			id, what string
			change   func(q *mad.REQ)
			reasons  []mad.RejReason
		}{
			{"ours#01", "another service", func(q *mad.REQ) { q.ServiceID = cmOther }, []mad.RejReason{mad.RejInvalidService}},
			{"ours#02", "path MTU code 6", func(q *mad.REQ) { q.PathMTU = 6 }, []mad.RejReason{rejMTU}},
			{"ours#03", "RD", func(q *mad.REQ) { q.Transport = mad.TransportRD }, []mad.RejReason{rejTransport}},
			{"ours#04", "another GID", func(q *mad.REQ) { q.Primary.RemoteGID = strangerAddr }, []mad.RejReason{rejGID}},
			{"ours#05", "another P_Key", func(q *mad.REQ) { q.PKey = foreignPKey }, nil},
		} {
			q := r.request(c)
			x.change(q)
			r.rejected(x.id, x.what, q, x.reasons...)
		}
		r.at(2)
		q := r.request(c)
		q.InitiatorDepth, q.ResponderResources = 255, 255
		_, _, rep := r.accepted("ours#06", q)
		if rep != nil {
			r.says(&mad.RTU{Header: mad.CMHeader(mad.AttrRTU, q.TID), LocalCommID: q.LocalCommID, RemoteCommID: rep.LocalCommID})
		}
	},
}

var withoutLIDs = &Test{
	ID: "X12_007", Title: "communication management on RoCE",
	Abstract: "On RoCE the LID fields are reserved: a REQ with LIDs 0 is accepted, and no code about LIDs is sent.",
	Covers:   []Statement{{"CA17-34", Stated}, {"CA17-35", Stated}, {"CA17-36", Stated}, {"CA17-37", Stated}, {"CA17-38", Stated}}, Topology: cmTopology, Needs: Control | Communication,
	Setup: []string{cmSetup},
	Procedure: []string{
		"Send a REQ with another GID as that of the device.",
		"Make a connection by a REQ whose LID fields are 0, REP and RTU.",
		"Send a LAP.",
	},
	Assertions: []Assertion{
		{"ours#01", "The REQ with another GID is rejected, with another reason than 13 and 19."},
		{"ours#02", "The REQ with LIDs 0 is accepted by a REP."},
		{"ours#03", "The LAP is answered by an APR with another status than 7."},
	},
	Decisions: []Decision{{"A SAP is named, too.", "It suggests an alternate path to the active side, which alternate paths in software are not: not sent."}},
	run: func(r *run) {
		c := r.listens()
		r.at(1)
		q, m := r.request(c), new(mad.REJ)
		q.Primary.RemoteGID = strangerAddr
		sent := r.says(q)
		if got := r.expect("ours#01", sent, mad.AttrREJ, q.TID, m); got != nil {
			r.check("ours#01", m.Reason != rejLID && m.Reason != rejOtherLID, "another reason than 13 and 19", fmt.Sprint(uint16(m.Reason)), sent, got)
		}
		r.at(2)
		q = r.request(c)
		q.Primary.LocalLID, q.Primary.RemoteLID = 0, 0
		_, got, rep := r.accepted("ours#02", q)
		if got == nil {
			r.halt("no REP answers the REQ")
		}
		r.says(&mad.RTU{Header: mad.CMHeader(mad.AttrRTU, q.TID), LocalCommID: q.LocalCommID, RemoteCommID: rep.LocalCommID})
		r.settle()
		r.at(3)
		apr := new(mad.APR)
		if sent, got := r.loads("ours#03", r.path(q, rep), apr); got != nil {
			r.check("ours#03", apr.Status != 7, "another status than 7", apr.Status.String(), sent, got)
		}
	},
}

// path is a LAP of a connection.
func (r *run) path(q *mad.REQ, rep *mad.REP) *mad.LAP {
	r.commID++
	return &mad.LAP{
		Header: mad.CMHeader(mad.AttrLAP, uint64(r.commID)), LocalCommID: q.LocalCommID, RemoteCommID: rep.LocalCommID, RemoteQPN: rep.LocalQPN, RemoteCMTimeout: cmTimeout,
		LocalLID: mad.PermissiveLID, RemoteLID: mad.PermissiveLID, LocalGID: testerAddr, RemoteGID: deviceAddr, HopLimit: 64, Rate: 3, LocalAckTimeout: cmTimeout,
	}
}

// loads sends a LAP, and judges that an APR answers it.
func (r *run) loads(id string, l *mad.LAP, apr *mad.APR) (sent, got *packet.Packet) {
	sent = r.says(l)
	return sent, r.expect(id, sent, mad.AttrAPR, l.TID, apr)
}

// The datagram service of the device, and the statuses of an APR.
const (
	datagramQPN     = 0x222
	datagramQKey    = 0x1234_5678
	aprUnknown      = 1
	datagramService = cmService + 2
)

var otherServices = &Test{
	ID: "X12_008", Title: "SIDR and LAP",
	Abstract: "A SIDR_REQ is answered by SIDR_REP, with queue pair and Q_Key of the service or with status 1; a LAP by APR, with status 1 where the connection is not known.",
	Covers:   []Statement{{"", NoneID}}, Topology: cmTopology, Needs: Control | Communication,
	Setup: []string{cmSetup + " It has a service of datagrams, too."},
	Procedure: []string{
		"Send a SIDR_REQ for the service of datagrams, and for one that the device does not have.",
		"Make a connection by REQ, REP and RTU, and send a LAP.",
		"Send a LAP of a connection that the device does not have.",
	},
	Assertions: []Assertion{
		{"ours#01", "The first SIDR_REP has status 0, queue pair and Q_Key of the service, and the request ID and service ID of the request."},
		{"ours#02", "The second has status 1, and the same of its request."},
		{"ours#03", "A REP answers the REQ, with its transaction ID."},
		{"ours#04", "An APR answers the LAP, with its transaction ID and a status that is not 1."},
		{"ours#05", "An APR with status 1 answers the LAP of a connection that is not known."},
	},
	run: func(r *run) {
		c := r.listens()
		r.cm.ListenDatagram(datagramService, cma.Datagram{QPN: datagramQPN, QKey: datagramQKey})
		r.at(1)
		resolve := func(id string, s mad.ServiceID, status mad.SIDRStatus, qpn, qkey uint32) {
			r.commID++
			q, m := &mad.SIDRReq{Header: mad.CMHeader(mad.AttrSIDRReq, uint64(r.commID)), RequestID: r.commID, PKey: 0xFFFF, ServiceID: s}, new(mad.SIDRRep)
			sent := r.says(q)
			got := r.expect(id, sent, mad.AttrSIDRRep, q.TID, m)
			if got == nil {
				return
			}
			ok := m.RequestID == q.RequestID && m.ServiceID == s && m.Status == status && (status != 0 || m.QPN == qpn && m.QKey == qkey)
			r.check(id, ok, fmt.Sprintf("status %d, request %#x, service %#x, queue pair %#x, Q_Key %#x", status, q.RequestID, uint64(s), qpn, qkey),
				fmt.Sprintf("status %d, request %#x, service %#x, queue pair %#x, Q_Key %#x", m.Status, m.RequestID, uint64(m.ServiceID), m.QPN, m.QKey), sent, got)
		}
		resolve("ours#01", datagramService, mad.SIDRValid, datagramQPN, datagramQKey)
		resolve("ours#02", cmOther, mad.SIDRUnsupported, 0, 0)
		r.at(2)
		q, rep := r.established("ours#03", c)
		apr := new(mad.APR)
		if sent, got := r.loads("ours#04", r.path(q, rep), apr); got != nil {
			r.check("ours#04", apr.Status != aprUnknown && apr.Status.Defined(), "another status than 1", apr.Status.String(), sent, got)
		}
		r.at(3)
		foreign := r.path(q, rep)
		foreign.LocalCommID, foreign.RemoteCommID, foreign.RemoteQPN = unknownCommID, unknownCommID+1, rep.LocalQPN+1
		if sent, got := r.loads("ours#05", foreign, apr); got != nil {
			r.check("ours#05", apr.Status == aprUnknown, "status 1", apr.Status.String(), sent, got)
		}
	},
}
