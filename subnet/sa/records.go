package sa

import (
	"encoding/binary"
	"slices"

	"ibwitness/mad"
)

// components are the names of the components by which records are asked for, by their bits of ComponentMask; those that are empty are not known.
var components = map[mad.Attribute][]string{
	mad.AttrNodeRecord:       {"LID"},
	mad.AttrPortInfoRecord:   {"endportLID", "portNum"},
	mad.AttrSMInfoRecord:     {"LID"},
	mad.AttrPKeyTableRecord:  {"LID", "blockNum", "portNum"},
	mad.AttrInformInfoRecord: {"subscriberGID", "enumeration"},
	mad.AttrServiceRecord:    {"serviceID", "serviceGID", "servicePKey", "", "", "", "serviceName"},
	mad.AttrMCMemberRecord:   {"MGID", "portGID", "QKey", "MLID", "MTUSelector", "MTU", "TClass", "PKey", "", "", "", "", "SL", "flowLabel", "hopLimit", "scope", "joinState"},
	mad.AttrPathRecord:       {"", "", "DGID", "SGID", "DLID", "SLID", "rawTraffic", "", "flowLabel", "hopLimit", "TClass", "reversible", "numbPath", "PKey", "", "SL"},
}

// agrees reports whether a record has the components of another one that a mask names, but for some.
func agrees(attribute mad.Attribute, mask uint64, want, have []byte, except ...string) bool {
	l := mad.SARecord(attribute)
	for i, name := range components[attribute] {
		if mask>>i&1 != 0 && !slices.Contains(except, name) && !l.Field(name).Same(want, have) {
			return false
		}
	}
	return true
}

// knows reports whether records can be asked for by the components of a mask.
func knows(attribute mad.Attribute, mask uint64) bool {
	for i, name := range components[attribute] {
		if name != "" {
			mask &^= 1 << i
		}
	}
	return mask == 0
}

// query answers Get and GetTable.
func (a *Agent) query(now int64, from End, h *mad.Header, s *mad.SA, b []byte) {
	trusted := s.SMKey != 0
	switch {
	case !knows(h.Attribute, s.ComponentMask):
		a.refuse(from, b, statusInvalid)
		return
	case h.Attribute == mad.AttrPKeyTableRecord && (trusted && a.faults[keysRefused] || !trusted && !a.faults[keysShown]):
		a.refuse(from, b, statusInvalid) // C15-0.1.23.2
		return
	}
	want := b[mad.SAHeaderSize:]
	found := a.find(h.Attribute, s.ComponentMask, want, trusted)
	if h.Method == mad.GetTable {
		a.table(now, from, h, found)
		return
	}
	switch {
	case len(found) == 0 && !a.faults[noneAnswered]:
		a.refuse(from, b, statusNone)
	case len(found) > 1 && !a.faults[manyAnswered]:
		a.refuse(from, b, statusMany)
	case a.faults[oneRefused] && len(found) == 1:
		a.refuse(from, b, statusInvalid)
	default:
		out := a.answer(b, 0)
		clear(out[mad.SAHeaderSize:])
		if len(found) > 0 {
			copy(out[mad.SAHeaderSize:], found[0])
		}
		a.send(from, out)
	}
}

// find returns the records that have the components of a request that its mask names.
func (a *Agent) find(attribute mad.Attribute, mask uint64, want []byte, trusted bool) (found [][]byte) {
	switch attribute {
	case mad.AttrPathRecord:
		return a.paths(mask, want)
	case mad.AttrInformInfoRecord:
		return a.informRecords(mask, want, trusted)
	}
	list := a.config.Records[attribute]
	switch attribute {
	case mad.AttrServiceRecord:
		list = a.services
	case mad.AttrMCMemberRecord:
		list = a.members()
	}
	for _, r := range list {
		if !agrees(attribute, mask, want, r) {
			continue
		}
		r = slices.Clone(r)
		switch {
		case trusted:
		case attribute == mad.AttrPortInfoRecord && !a.faults[keyShown]:
			clear(r[4:12]) // its M_Key (C15-0.1.23.1)
		case attribute == mad.AttrServiceRecord:
			clear(mad.LayoutServiceRecord.Field("serviceKey").Bytes(r))
		}
		found = append(found, r)
	}
	return found
}

// informRecords are the InformInfoRecords of subscriptions.
func (a *Agent) informRecords(mask uint64, want []byte, trusted bool) (found [][]byte) {
	l := mad.LayoutInformInfoRecord
	const infoAt = 24
	for i, s := range a.subscribed {
		r := make([]byte, l.Size)
		copy(r, a.gid(s.to.LID))
		l.Field("enumeration").PutUint(r, uint64(i))
		copy(r[infoAt:], s.info)
		if trusted && a.faults[subscriberHidden] || !trusted && !a.faults[subscriberShown] {
			mad.LayoutInformInfo.Field("QPN").PutUint(r[infoAt:], 0) // C15-0.1.23.4
		}
		if agrees(mad.AttrInformInfoRecord, mask, want, r) {
			found = append(found, r)
		}
	}
	return found
}

// gid is the GID of the port with a LID; nil: there is none.
func (a *Agent) gid(lid uint16) []byte {
	for i := range a.config.Ports {
		if p := &a.config.Ports[i]; p.LID == lid {
			return p.gid()
		}
	}
	return nil
}

// defaultPrefix is the GID prefix of a subnet that has none of its own (section 4.1.1).
const defaultPrefix = 0xFE80 << 48

func (p *Port) gid() []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, defaultPrefix), p.GUID)
}
