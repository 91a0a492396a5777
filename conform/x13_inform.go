package conform

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"ibwitness/fabricagent/ibsim"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/subnet/sma"
)

// administrationTests are those of subnet administration.
var administrationTests = []*Test{subscriptions, tables, managementKey, records, trusted, joins, leaves, standby, service, onePath, pathTable, pathPartition}

const administrationQualifier = "the master subnet manager runs at the device, IsSM is 1, and its subnet administration answers at QP1"

// informTrap is the trap of the tests: a port has other capabilities.
const informTrap = 144

// manages begins a test of subnet administration, and takes the link to Active.
func (r *run) manages() *manager {
	m := r.manager
	if m.subnet != nil {
		r.at(1)
		r.note("the device is a subnet manager, at LID %d; the tester is at LID %d", m.masterLID, m.ownLID)
		r.at(2)
		r.note("the manager has done so")
		return m
	}
	s := r.survey()
	if !s.capable(sma.CapSM) {
		r.inapplicable("IsSM is 0: no subnet manager runs at the device")
	}
	r.at(2)
	m.activate()
	return m
}

// inform makes an InformInfo of all LIDs.
func inform(change map[string]uint64) []byte {
	l, b := mad.LayoutInformInfo, make([]byte, mad.LayoutInformInfo.Size)
	values := map[string]uint64{"LIDRangeBegin": mad.PermissiveLID, "isGeneric": 1, "subscribe": 1, "type": 0xFFFF, "trapNumber": informTrap, "QPN": gsiQP, "respTimeValue": 18, "producerType": 0xFFFFFF}
	for _, list := range []map[string]uint64{values, change} {
		for name, v := range list {
			l.Field(name).PutUint(b, v)
		}
	}
	return b
}

// informs sends Set(InformInfo), and returns the answer; nil: none came.
func (m *manager) informs(data []byte) (sent *packet.Packet, got *administered) {
	for range madTries {
		m.tid++
		sent = m.asksAdministration(mad.Header{Method: mad.Set, Attribute: mad.AttrInformInfo, TID: m.tid}, mad.RMPP{}, data)
		for _, x := range m.administrations(m.wait, 1) {
			if x.Method == mad.GetResp && x.Attribute == mad.AttrInformInfo && x.TID == m.tid {
				return sent, &x
			}
		}
	}
	return sent, nil
}

// informed judges the answer to Set(InformInfo): confirmed as it came, or refused by its status or by subscribe 0.
func (r *run) informed(id string, confirmed bool, data []byte) {
	sent, got := r.manager.informs(data)
	if got == nil {
		r.check(id, false, "an answer", "none", sent)
		return
	}
	f := mad.LayoutInformInfo.Field("subscribe")
	same := bytes.Equal(got.data[:len(data)], data)
	actual := fmt.Sprintf("%s, subscribe %d, the InformInfo of the request: %t", mad.Status(got.Status).Text(got.Class), f.Uint(got.data), same)
	if confirmed {
		r.check(id, got.Status == 0 && same, "status 0 and the InformInfo of the request", actual, sent, got.p)
		return
	}
	r.check(id, got.Status != 0 || f.Uint(data) == 1 && f.Uint(got.data) == 0, "a refusal", actual, sent, got.p)
}

// traps sends a trap of the tester, and returns the reports of it that come.
func (m *manager) traps() (sent *packet.Packet, reports []administered) {
	m.tid++
	s := mad.SMP{Header: mad.Header{BaseVersion: 1, Class: mad.ClassSubnetLID, ClassVersion: 1, Method: mad.Trap, Attribute: mad.AttrNotice, TID: m.tid}, Data: make([]byte, mad.SMPDataSize)}
	for name, v := range map[string]uint64{"isGeneric": 1, "noticeType": 4, "nodeType": 1, "trapNumber": informTrap, "issuerLID": uint64(m.self())} {
		mad.LayoutNotice.Field(name).PutUint(s.Data, v)
	}
	binary.BigEndian.PutUint16(s.Data[12:], m.self()) // whose port it is
	d := ibsim.Datagram{SLID: m.self(), DLID: uint16(m.lid())}
	m.r.can(s.Encode(d.MAD[:]))
	sent = m.send(d)
	for _, x := range m.administrations(m.wait, 1) {
		if x.Method == mad.Report {
			reports = append(reports, x)
		}
	}
	return sent, reports
}

// reported judges that one report of a trap comes, and answers it; then none comes any more.
func (r *run) reported(id string, any bool) {
	m := r.manager
	sent, list := m.traps()
	if !any {
		list = append(list, m.administrations(reportsEnd, 1)...)
		r.check(id, len(list) == 0, "no report", fmt.Sprintf("%d", len(list)), proofs(list, sent)...)
		return
	}
	number := mad.LayoutNotice.Field("trapNumber")
	ok := len(list) == 1 && list[0].Attribute == mad.AttrNotice && number.Uint(list[0].data) == informTrap
	if !r.check(id, ok, fmt.Sprintf("one Report(Notice) of trap %d", informTrap), fmt.Sprintf("%d reports", len(list)), proofs(list, sent)...) {
		return
	}
	h := list[0].Header
	h.Method = mad.ReportResp
	m.asksAdministration(h, mad.RMPP{}, list[0].data)
	more := m.administrations(reportsEnd, 1)
	r.check(id, len(more) == 0, "no report more, when it is answered", fmt.Sprintf("%d", len(more)), proofs(more, sent)...)
}

// reportsEnd is in which time a report that is not answered is retransmitted, in nanoseconds.
const reportsEnd = 3_000_000_000

var subscriptions = &Test{
	ID: "X13_009", Title: "subscriptions to traps",
	Abstract: "Subnet administration confirms a subscription by its InformInfo and reports traps to the subscriber; it refuses an InformInfo that is wrong, and ends a subscription only for who names its queue pair.",
	Covers:   []Statement{{"C13-32.1.2", Stated}, {"o13-12.1.1", Stated}, {"o13-13.1.1", Seen}}, Topology: subnetTopology, Device: Node, Needs: Managed | Administration,
	Qualifiers: []string{administrationQualifier, keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		activeText,
		"Subscribe to trap 144 of all LIDs by Set(InformInfo), with QPN 1.",
		"Send a trap 144, answer the report, and listen for 3 s.",
		"Subscribe to it for a range of LIDs whose end is before its beginning.",
		"End the subscription with QPN 0. Send a trap 144, and answer the report.",
		"End the subscription with QPN 1.",
		"Send a trap 144, and listen for 3 s.",
	},
	Assertions: []Assertion{
		{"ours#01", "The subscription is confirmed with status 0 and the InformInfo of the request."},
		{"ours#02", "A trap is reported to the subscriber once, when it answers."},
		{"ours#03", "The InformInfo that is wrong is answered with subscribe 0 or with another status than 0."},
		{"ours#04", "The end of a subscription of queue pair 0 is answered with another status than 0, and the subscription goes on."},
		{"ours#05", "Its end is confirmed with status 0 and the InformInfo of the request."},
		{"ours#06", "Then the trap is not reported."},
	},
	Decisions: ours, Breaks: []string{"MAD-INF-002"},
	run: func(r *run) {
		r.manages()
		r.at(3)
		r.informed("ours#01", true, inform(nil))
		r.at(4)
		r.reported("ours#02", true)
		r.at(5)
		r.informed("ours#03", false, inform(map[string]uint64{"LIDRangeBegin": 10, "LIDRangeEnd": 5, "trapNumber": informTrap + 1}))
		r.at(6)
		r.informed("ours#04", false, inform(map[string]uint64{"subscribe": 0, "QPN": 0}))
		r.reported("ours#04", true)
		r.at(7)
		r.informed("ours#05", true, inform(map[string]uint64{"subscribe": 0}))
		r.at(8)
		r.reported("ours#06", false)
	},
}
