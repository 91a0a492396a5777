// Package sa is the subnet administration of a subnet manager in software (chapter 15): subscriptions to traps and their reports (section 13.4.8.3), and records of nodes, ports, paths,
// services and multicast groups, whose tables go in several segments (section 13.6). It is a pure state machine: a MAD and a time in, MADs out; no goroutine, no clock, no I/O. Times are nanoseconds.
//
// It is the engine's own, without a promise to others.
package sa

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"ibwitness/internal/named"
	"ibwitness/mad"
)

// The errors of this package.
var (
	ErrFault  = errors.New("sa: no such fault")
	ErrRecord = errors.New("sa: a record of another size than its attribute has")
)

// End is who asks, or is told: a LID and a queue pair.
type End struct {
	LID uint16
	QPN uint32
}

// Out is a MAD that leaves; From is the queue pair that it leaves from.
type Out struct {
	To   End
	From uint32
	MAD  []byte // 256 bytes
}

// Config is what subnet administration has to tell.
type Config struct {
	Key     uint64                     // SM_Key: who knows it is trusted
	Standby bool                       // the subnet manager is not the master
	Records map[mad.Attribute][][]byte // of NodeRecord, PortInfoRecord, SMInfoRecord and P_KeyTableRecord
	Ports   []Port                     // between which there are paths
	Faults  []string                   // names of Faults
}

// Port is an end port. Its GID is of the default prefix.
type Port struct {
	GUID  uint64
	LID   uint16
	PKeys []uint16
}

// Bounds of what is kept, and when it is retransmitted.
const (
	mostSubscriptions = 1024
	mostTransfers     = 256
	mostReports       = 4096
	mostServices      = 1024
	mostGroups        = 1024
	mostMembers       = 1024       // of a group
	again             = int64(1e9) // after which a segment or a report is retransmitted
	tries             = 4          // of a segment or a report, in all
)

// The status codes of subnet administration (section 15.2.4): there is no room, the request cannot be carried out, a Get names no record, and several, and components are missing.
const (
	statusRoom    = 0x0100
	statusInvalid = 0x0200
	statusNone    = 0x0300
	statusMany    = 0x0400
	statusMissing = 0x0600
)

// subscription is an InformInfo that was confirmed.
type subscription struct {
	to   End // of reports
	trap uint16
	info []byte // as it was confirmed, with the queue pair of reports
}

// report is one that is not answered yet.
type report struct {
	to   End
	tid  uint64
	mad  []byte
	left int
	due  int64
}

// Agent is subnet administration. It is not for use by several goroutines at once.
type Agent struct {
	config     Config
	faults     faultSet
	subscribed []subscription
	reports    []*report
	transfers  []*transfer
	services   [][]byte // ServiceRecords
	groups     []*group
	mlid       uint16 // of the newest group
	tid        uint64
	turns      uint64 // of a path that changes
	out        []Out
}

// New returns subnet administration without subscriptions. The error wraps ErrFault or ErrRecord.
func New(c Config) (*Agent, error) {
	for attribute, list := range c.Records {
		l := mad.SARecord(attribute)
		if l == nil || slices.ContainsFunc(list, func(b []byte) bool { return len(b) != l.Size }) {
			return nil, fmt.Errorf("%w: attribute 0x%04x; give each record whole", ErrRecord, uint16(attribute))
		}
	}
	a := &Agent{config: c, mlid: firstMLID - 1}
	err := named.Each(c.Faults, faultTable, func(f Fault) string { return f.Name }, ErrFault, func(f Fault) { a.faults[f.fault] = true })
	return a, err
}

// Receive takes a MAD that has come to QP1, and returns what leaves. What is no MAD of subnet administration is dropped.
func (a *Agent) Receive(now int64, from End, b []byte) []Out {
	var h mad.Header
	var r mad.RMPP
	if len(b) != mad.Size || mad.DecodeHeader(b, &h) != nil || r.Decode(b) != nil || h.Class != mad.ClassSubnetAdmin {
		return nil
	}
	switch {
	case r.Active():
		a.segmentTaken(now, from, &h, &r)
	case h.Method == mad.ReportResp:
		a.reports = slices.DeleteFunc(a.reports, func(r *report) bool { return r.tid == h.TID && r.to.LID == from.LID })
	case h.Method&0x80 != 0:
	case h.BaseVersion != 1 || h.ClassVersion != 2:
		a.refuse(from, b, mad.StatusVersion)
	default:
		a.request(now, from, &h, b)
	}
	return a.taken()
}

// request takes a request, unless it is not answered: who is no master answers none (C15-0.1.3), and one with a wrong SM_Key is dropped (C15-0.1.5).
func (a *Agent) request(now int64, from End, h *mad.Header, b []byte) {
	var s mad.SA
	if s.Decode(b) != nil || a.config.Standby && !a.faults[standbyAnswers] || !a.admits(s.SMKey) {
		return
	}
	set := h.Method == mad.Set
	switch {
	case h.Attribute == mad.AttrInformInfo && set:
		a.inform(from, b)
	case h.Attribute == mad.AttrServiceRecord && (set || h.Method == mad.Delete):
		a.service(from, b, h.Method, s.ComponentMask)
	case h.Attribute == mad.AttrMCMemberRecord && set:
		a.join(from, b, s.ComponentMask)
	case h.Attribute == mad.AttrMCMemberRecord && h.Method == mad.Delete:
		a.leave(from, b, s.ComponentMask)
	case components[h.Attribute] == nil || h.Method != mad.Get && h.Method != mad.GetTable:
		a.refuse(from, b, mad.StatusAttribute)
	default:
		a.query(now, from, h, &s, b)
	}
}

// admits reports whether a request with an SM_Key is answered.
func (a *Agent) admits(key uint64) bool {
	switch {
	case key == 0:
		return !a.faults[zeroKeyDropped]
	case key == a.config.Key:
		return !a.faults[rightKeyDropped]
	}
	return a.faults[wrongKeyTaken]
}

func (a *Agent) taken() []Out {
	out := a.out
	a.out = nil
	return out
}

// send has a MAD leave from QP1.
func (a *Agent) send(to End, b []byte) { a.out = append(a.out, Out{to, 1, b}) }

// smKeyAt is where the SM_Key is in a MAD (table 185).
const smKeyAt = 36

// responses are the methods of answers.
var responses = map[mad.Method]mad.Method{mad.GetTable: mad.GetTableResp, mad.Delete: mad.DeleteResp}

// answer is the answer to a request, with its data.
func (a *Agent) answer(b []byte, status mad.Status) []byte {
	b = bytes.Clone(b)
	method := mad.GetResp
	if m, ok := responses[mad.Method(b[3])]; ok {
		method = m
	}
	b[3] = uint8(method)
	if !a.faults[keyEchoed] {
		clear(b[smKeyAt : smKeyAt+8])
	}
	binary.BigEndian.PutUint16(b[4:], uint16(status))
	return b
}

func (a *Agent) refuse(to End, b []byte, status mad.Status) { a.send(to, a.answer(b, status)) }

// inform takes an InformInfo (sections 13.4.8.3 and 13.4.11): a subscription, or the end of one.
func (a *Agent) inform(from End, b []byte) {
	l, info := mad.LayoutInformInfo, b[mad.SAHeaderSize:]
	get := func(name string) uint64 { return l.Field(name).Uint(info) }
	s := subscription{to: End{from.LID, uint32(get("QPN"))}, trap: uint16(get("trapNumber"))}
	out := a.answer(b, 0)
	first, last := get("LIDRangeBegin"), get("LIDRangeEnd")
	switch wrong := first != mad.PermissiveLID && first > last || get("subscribe") > 1; {
	case get("subscribe") == 0:
		a.unsubscribe(from, b, s)
		return
	case wrong && !a.faults[badSubscriptionTaken], len(a.subscribed) == mostSubscriptions:
		l.Field("subscribe").PutUint(out[mad.SAHeaderSize:], 0)
	case s.to.QPN == 0:
		s.to.QPN = from.QPN
		fallthrough
	default:
		s.info = bytes.Clone(info[:l.Size])
		l.Field("QPN").PutUint(s.info, uint64(s.to.QPN))
		a.subscribed = append(a.subscribed, s)
	}
	if a.faults[informChanged] {
		l.Field("trapNumber").PutUint(out[mad.SAHeaderSize:], get("trapNumber")^1)
	}
	a.send(from, out)
}

// unsubscribe ends a subscription, whose queue pair is to be named (o13-2.1.1).
func (a *Agent) unsubscribe(from End, b []byte, s subscription) {
	i := slices.IndexFunc(a.subscribed, func(o subscription) bool {
		return o.trap == s.trap && o.to.LID == s.to.LID && (o.to.QPN == s.to.QPN || s.to.QPN == 0 && a.faults[unsubscribeUnnamed])
	})
	if i < 0 || s.to.QPN != 0 && a.faults[unsubscribeRefused] {
		a.refuse(from, b, statusInvalid)
		return
	}
	if s.to.QPN == 0 || !a.faults[reportsGoOn] {
		a.subscribed = slices.Delete(a.subscribed, i, i+1)
	}
	a.send(from, a.answer(b, 0))
}

// Trap takes a trap that the subnet manager has got, 256 bytes: its TrapRepress, and a report to each subscriber leave.
func (a *Agent) Trap(now int64, from End, b []byte) []Out {
	var s mad.SMP
	if len(b) != mad.Size || s.Decode(b) != nil || s.Method != mad.Trap || s.Attribute != mad.AttrNotice {
		return nil
	}
	repress := bytes.Clone(b)
	repress[3] = uint8(mad.TrapRepress)
	a.out = append(a.out, Out{from, 0, repress})
	number := uint16(mad.LayoutNotice.Field("trapNumber").Uint(s.Data))
	for _, x := range a.subscribed {
		if x.trap != number && x.trap != 0xFFFF || a.faults[reportLost] || len(a.reports) == mostReports {
			continue
		}
		a.tid++
		m := make([]byte, mad.Size)
		h := mad.Header{BaseVersion: 1, Class: mad.ClassSubnetAdmin, ClassVersion: 2, Method: mad.Report, Attribute: mad.AttrNotice, TID: a.tid}
		if h.Encode(m) != nil {
			continue
		}
		copy(m[mad.SAHeaderSize:], s.Data[:mad.LayoutNotice.Size])
		a.reports = append(a.reports, &report{x.to, a.tid, m, tries - 1, now + again})
		a.send(x.to, bytes.Clone(m))
	}
	return a.taken()
}

// Next is when something is to be retransmitted; false: never.
func (a *Agent) Next() (at int64, ok bool) {
	earlier := func(t int64) {
		if !ok || t < at {
			at, ok = t, true
		}
	}
	for _, r := range a.reports {
		earlier(r.due)
	}
	for _, t := range a.transfers {
		earlier(t.due)
	}
	return at, ok
}

// Expire retransmits what is due, and gives up what nobody answers.
func (a *Agent) Expire(now int64) []Out {
	for _, r := range slices.Clone(a.reports) {
		switch {
		case r.due > now:
		case r.left == 0:
			a.reports = slices.DeleteFunc(a.reports, func(o *report) bool { return o == r })
		default:
			r.left--
			r.due = now + again
			a.send(r.to, bytes.Clone(r.mad))
		}
	}
	for _, t := range slices.Clone(a.transfers) {
		if t.due <= now {
			a.timeout(now, t)
		}
	}
	return a.taken()
}
