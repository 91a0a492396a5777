package incident_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
	"ibwitness/mad"
	"ibwitness/packet"
)

// TestSIDRMeanwhile: of a SIDR_REQ that nothing answers it is told which others were answered meanwhile: of the same service ID, of others, and of the same host by others; not those that were answered before or after.
func TestSIDRMeanwhile(t *testing.T) {
	ask := func(tid uint64, service mad.ServiceID) []fabricagent.Frame {
		return asked(t,
			&mad.SIDRReq{Header: mad.CMHeader(mad.AttrSIDRReq, tid), RequestID: uint32(tid), PKey: 0xFFFF, ServiceID: service},
			&mad.SIDRRep{Header: mad.CMHeader(mad.AttrSIDRRep, tid), RequestID: uint32(tid), QPN: 0x22, ServiceID: service, QKey: 1})
	}
	elsewhere := func(list []fabricagent.Frame) []fabricagent.Frame { // between 10.0.0.1 and 10.0.0.3
		for k := range list {
			changed(&list[k], func(p *packet.Packet) {
				if third := packet.IPv4Addr([]byte{10, 0, 0, 3}); k == 0 {
					p.Dst, p.DGID = third, third
				} else {
					p.Src, p.SGID = third, third
				}
			})
		}
		return list
	}
	const service = 0x1064853
	for _, tt := range []struct {
		name      string
		more      []fabricagent.Frame
		at        time.Duration // when more begins
		want, not []string
	}{
		{"none", nil, 0, []string{"fits: a host that is down or does not run RDMA"}, []string{"meanwhile"}},
		{"the same service", ask(9, service), time.Second, []string{"others: 10.0.0.2 answered 1 SIDR_REQ for the same service ID meanwhile\n", "fits: this SIDR_REQ or its answer"}, nil},
		{"another service", ask(9, service+1), time.Second, []string{"others: 10.0.0.2 answered 1 SIDR_REQ for other service IDs meanwhile\n", "fits: a program of 10.0.0.2 that listens on TCP port 18515 and does not answer"}, nil},
		{"by another host", elsewhere(ask(9, service)), time.Second, []string{"others: 10.0.0.3 answered 1 SIDR_REQ of 10.0.0.1 meanwhile\n"}, nil},
		{"later", ask(9, service), 3 * time.Second, nil, []string{"meanwhile"}},
	} {
		one := ask(7, service)[:1]
		list := append(one[:1:1], one[0], ask(8, service+7)[0]) // the last has the capture go on
		list[1].Time += int64(2 * time.Second)
		list[2].Time += int64(4 * time.Second)
		for k := range tt.more {
			tt.more[k].Time = list[0].Time + int64(tt.at) + int64(k)*int64(time.Millisecond)
		}
		list = append(list, tt.more...)
		slices.SortStableFunc(list, func(a, b fabricagent.Frame) int { return cmp.Compare(a.Time, b.Time) })
		var b strings.Builder
		all := incident.Of(judged(t, list, agent.Options{}))
		told(&b, "frames", all)
		for i := range all {
			b.WriteString("fits: " + strings.Join(all[i].FitsWith, "; ") + "\n")
		}
		contains(t, tt.name, b.String(), append(tt.want, "for a queue pair of UD (SIDR_REQ) twice in 2s; nothing answered."), tt.not)
	}
}
