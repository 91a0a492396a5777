package conform

import (
	"fmt"
	"math/rand/v2"

	"ibwitness/fabricagent/ibsim"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/subnet"
)

// answerTests are those of how answers belong to requests.
var answerTests = []*Test{together, unasked}

// activeText is the step of tests that need other packets than those of subnet management.
const activeText = "Give LIDs to the device and the tester, and take their link to Active."

// manyGets is how many requests are sent at once.
const manyGets = 100

var together = &Test{
	ID: "X13_005", Title: "many requests at once",
	Abstract: "Of many requests that are sent at once, each is answered with its transaction ID, its attribute and attribute modifier, in its class.",
	Covers:   []Statement{{"C13-19.1.1", Stated}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		activeText,
		"Send 100 Gets at once, with transaction IDs by chance: NodeInfo, NodeDescription and PortInfo of subnet management, PortCounters and ClassPortInfo of performance management. Retransmit, up to twice, those that are not answered in time.",
	},
	Assertions: []Assertion{
		{"ours#01", "Each answer has the transaction ID of a request that has had no answer."},
		{"ours#02", "It has the class, the attribute and the attribute modifier of that request."},
		{"ours#03", "Each request is answered."},
	},
	run: func(r *run) {
		m, s := r.manager, r.survey()
		r.at(2)
		m.activate()
		r.at(3)
		m.quiet = true
		list := r.manyRequests(s)
		for range madTries {
			for _, q := range list {
				if q.got == nil {
					q.sent = m.send(q.d)
				}
			}
			r.wait(m.wait)
			for _, p := range m.arrived {
				r.belongs(list, p)
			}
			m.arrived = nil
		}
		m.quiet = false
		for _, q := range list {
			r.check("ours#03", q.got != nil, "an answer", actually(map[bool]string{true: fmt.Sprintf("none to transaction ID %#x", q.TID)}[q.got == nil], "an answer"), q.sent, q.got)
		}
	},
}

// asking is one of many requests.
type asking struct {
	mad.Header
	d         ibsim.Datagram
	sent, got *packet.Packet
}

// manyRequests are Gets of both classes, with transaction IDs by chance.
func (r *run) manyRequests(s *surveyed) (list []*asking) {
	m, chance := r.manager, rand.New(rand.NewPCG(r.seed, manyGets))
	for i := range manyGets {
		q := &asking{Header: performance(mad.Get, []mad.Attribute{mad.AttrPortCounters, mad.AttrClassPortInfo}[i/2%2])}
		if i%2 == 0 {
			q.Class, q.Attribute = mad.ClassSubnetDirected, []mad.Attribute{mad.AttrNodeInfo, mad.AttrNodeDescription, mad.AttrPortInfo}[i/2%3]
			if q.Attribute == mad.AttrPortInfo && s.kind == subnet.Switch {
				q.Modifier = uint32(i/6%s.ports) + 1
			}
			q.TID = chance.Uint64()
			var err error
			q.d, err = ibsim.Directed(mad.SMP{Header: q.Header, MKey: m.key}, 1)
			r.can(err)
		} else {
			q.d = m.service(q.Header, m.counterPort())
			q.TID = chance.Uint64()
			r.can(q.Encode(q.d.MAD[:]))
		}
		list = append(list, q)
	}
	return list
}

// belongs judges that an answer belongs to one of many requests.
func (r *run) belongs(list []*asking, p *packet.Packet) {
	var h mad.Header
	r.can(mad.DecodeHeader(p.Payload, &h))
	for _, q := range list {
		if q.TID != h.TID {
			continue
		}
		if !r.check("ours#01", q.got == nil, "one answer", fmt.Sprintf("one more to transaction ID %#x", h.TID), q.sent, q.got, p) {
			return
		}
		q.got = p
		ok := h.Method == mad.GetResp && h.Class == q.Class && h.Attribute == q.Attribute && h.Modifier == q.Modifier
		r.check("ours#02", ok, fmt.Sprintf("GetResp of %v, %s, attribute modifier %#x", q.Class, q.AttributeName(), q.Modifier),
			fmt.Sprintf("%v of %v, %s, attribute modifier %#x", h.Method, h.Class, h.AttributeName(), h.Modifier), q.sent, p)
		return
	}
	r.check("ours#01", false, "the transaction ID of a request", fmt.Sprintf("%#x", h.TID), p)
}

var unasked = &Test{
	ID: "X13_006", Title: "answers that are not asked for",
	Abstract: "A GetResp, and a TrapRepress to no trap, are not answered.",
	Covers:   []Statement{{"", NoneID}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		activeText,
		"Send GetResp(NodeInfo) of subnet management by LIDs, and GetResp(PortCounters) of performance management.",
		"Send a TrapRepress by LIDs.",
		"Get NodeInfo and, of performance management, PortCounters.",
	},
	Assertions: []Assertion{
		{"ours#01", "A GetResp is not answered."},
		{"ours#02", "A TrapRepress is not answered."},
		{"ours#03", "Requests after them are answered with status code 0."},
	},
	run: func(r *run) {
		m := r.activated()
		r.silent("ours#01", m.byLID(mad.SMP{Header: mad.Header{Method: mad.GetResp, Attribute: mad.AttrNodeInfo}, MKey: m.key, Data: make([]byte, mad.SMPDataSize)}), "")
		r.silent("ours#01", m.repeat(1, m.service(performance(mad.GetResp, mad.AttrPortCounters), m.counterPort())), "")
		r.at(4)
		r.silent("ours#02", m.repress(m.key), "")
		r.at(5)
		r.answered("ours#03", m.ask(mad.Get, mad.AttrNodeInfo, 0, nil), granted, "")
		r.answered("ours#03", m.perform(mad.Get, mad.AttrPortCounters, m.counterPort()), granted, "")
	},
}
