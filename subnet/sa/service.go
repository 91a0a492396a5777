package sa

import (
	"bytes"
	"slices"

	"ibwitness/mad"
)

// Bits of ComponentMask of a ServiceRecord. Its identity is ServiceID, ServiceGID and ServiceP_Key.
const (
	maskService     = 1<<0 | 1<<1
	maskServicePKey = 1 << 2
	maskLease       = 1 << 4
)

// service answers Set and Delete of a ServiceRecord.
func (a *Agent) service(from End, b []byte, method mad.Method, mask uint64) {
	l := mad.LayoutServiceRecord
	r := bytes.Clone(b[mad.SAHeaderSize : mad.SAHeaderSize+l.Size])
	if mask&maskServicePKey == 0 {
		l.Field("servicePKey").PutUint(r, 0xFFFF)
	}
	if mask&maskLease == 0 {
		l.Field("serviceLease").PutUint(r, 0xFFFFFFFF) // without end
	}
	i := slices.IndexFunc(a.services, func(o []byte) bool { return agrees(mad.AttrServiceRecord, maskService|maskServicePKey, r, o) })
	switch {
	case mask&maskService != maskService:
		a.refuse(from, b, statusInvalid)
		return
	case method == mad.Delete && i < 0:
		a.refuse(from, b, statusNone)
		return
	case method == mad.Delete && a.faults[serviceNotDeleted]:
		a.refuse(from, b, statusInvalid)
		return
	case method == mad.Delete:
		r = a.services[i]
		if !a.faults[serviceKept] {
			a.services = slices.Delete(a.services, i, i+1)
		}
	case a.faults[serviceLost]:
	case i >= 0:
		a.services[i] = r
	case len(a.services) == mostServices:
		a.refuse(from, b, statusRoom)
		return
	default:
		a.services = append(a.services, r)
	}
	if a.faults[serviceChanged] {
		l.Field("serviceName").Bytes(r)[0] ^= 1
	}
	out := a.answer(b, 0)
	copy(out[mad.SAHeaderSize:], r)
	clear(l.Field("serviceKey").Bytes(out[mad.SAHeaderSize:]))
	a.send(from, out)
}
