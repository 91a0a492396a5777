package cm

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// sidrReq begins an exchange with a SIDR_REQ.
func (v *Verifier) sidrReq(m *message, q *mad.SIDRReq) {
	v.reserved(m, uint32(q.Reserved))
	v.address(m, nil)
	v.judge(m, rule.CMSID003, q.PKey&0x7FFF == 0, func() rule.Verdict {
		return rule.Verdict{Expected: "a valid P_Key", Actual: fmt.Sprintf("0x%04x", q.PKey)}
	})
	v.ipService(m, q.ServiceID, q.Private, m.have-fixed[mad.AttrSIDRReq])
	k := key{active: m.Src, passive: m.Dst, id: q.RequestID, sidr: true}
	was, more := uint64(0), false
	if i, ok := v.byID[k]; ok {
		if x := &v.slots[i]; x.tid == q.TID && m.Time-x.req.time <= hold {
			v.touch(x)
			if !x.req.copied(m) {
				x.req.time, x.req.frame, x.req.ipid = m.Time, m.Frame, m.IPID
				x.req.times++
			}
			return
		}
		was, more = v.slots[i].tid, v.slots[i].was != 0
		v.drop(i)
	}
	x := v.begin(k)
	x.was, x.rival = was, more
	x.asked, x.tid, x.pkey, x.serviceID, x.retries = true, q.TID, q.PKey, q.ServiceID, -1
	x.req.begin(m)
	x.noteTap(m, active)
	v.byTID[tidKey{m.Src, m.Dst, q.TID}] = v.index(x)
}

// sidrRep judges a SIDR_REP (rules CM-SID-001, -002, -003, CM-TID-002).
func (v *Verifier) sidrRep(m *message, r *mad.SIDRRep) {
	v.judge(m, rule.CMSID002, !r.Status.Defined(), func() rule.Verdict {
		return rule.Verdict{Expected: "a status of 0 to 5", Actual: fmt.Sprint(uint8(r.Status))}
	})
	v.judge(m, rule.CMSID001, r.Status == mad.SIDRValid && (r.QPN <= 1 || r.QPN == packet.PSNMask), func() rule.Verdict {
		return rule.Verdict{Expected: "a QPN with status 0", Actual: fmt.Sprintf("QP 0x%x", r.QPN)}
	})
	i, ok := v.byID[key{active: m.Dst, passive: m.Src, id: r.RequestID, sidr: true}]
	if !ok {
		v.address(m, nil)
		if i, ok = v.byTID[tidKey{m.Dst, m.Src, r.TID}]; ok && v.slots[i].key.sidr {
			v.accuse(m, rule.CMSID001, rule.Violation, rule.Verdict{
				Expected: fmt.Sprintf("request ID 0x%08x of the SIDR_REQ", v.slots[i].key.id), Actual: fmt.Sprintf("0x%08x", r.RequestID), Evidence: []uint64{v.slots[i].req.frame},
			})
		}
		return
	}
	x := &v.slots[i]
	v.touch(x)
	v.address(m, x)
	if x.older(m) {
		return
	}
	v.covered(rule.CMTID002)
	if r.TID != x.tid {
		v.accuse(m, rule.CMTID002, rule.Proven(!x.rival), rule.Verdict{
			Expected: fmt.Sprintf("transaction ID 0x%016x of the SIDR_REQ", x.tid), Actual: fmt.Sprintf("0x%016x", r.TID), Evidence: []uint64{x.req.frame},
			Detail: unless(!x.rival, "more than two SIDR_REQs have this request ID: it may respond to an earlier one"),
		})
		return
	}
	x.req.answered, x.resolved = true, m.Time
	v.judge(m, rule.CMSID001, r.ServiceID != x.serviceID, func() rule.Verdict {
		return rule.Verdict{Expected: "service ID of the SIDR_REQ: " + x.serviceID.String(), Actual: r.ServiceID.String(), Evidence: []uint64{x.req.frame}}
	})
	if x.pkey&0x7FFF == 0 {
		return // there is no such partition
	}
	v.judge(m, rule.CMSID003, m.PKey&0x7FFF != x.pkey&0x7FFF, func() rule.Verdict {
		return rule.Verdict{Expected: fmt.Sprintf("a reply in the partition of the SIDR_REQ, P_Key 0x%04x", x.pkey), Actual: fmt.Sprintf("P_Key 0x%04x", m.PKey), Evidence: []uint64{x.req.frame}}
	})
}
