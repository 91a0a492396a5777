package conform

import (
	"bytes"
	"fmt"

	"ibwitness/mad"
	"ibwitness/packet"
)

// connectTests are those of how connections are made and ended.
var connectTests = []*Test{replyAgain, dataFirst, requestAgain, disconnects}

var replyAgain = &Test{
	ID: "X12_001", Title: "a REP that is retransmitted",
	Abstract: "A REP that is retransmitted, because no RTU has come or for a duplicate REQ, is the same; after the RTU none comes, and the connection carries data.",
	Covers:   []Statement{{"", NoneID}}, Topology: cmTopology, Needs: Control | Communication,
	Setup: []string{cmSetup},
	Procedure: []string{
		"Send a REQ for the service.",
		"Take the REP, and answer nothing. Retransmit the REQ.",
		"Wait for the REP that the device retransmits.",
		"Send the RTU, and listen for four times eight CM response timeouts.",
		"Send a SEND.",
	},
	Assertions: []Assertion{
		{"ours#01", "A REP answers the REQ, with its transaction ID."},
		{"ours#02", "The REP to the second REQ is the same, byte by byte."},
		{"ours#03", "The REP that is retransmitted is the same, byte by byte."},
		{"ours#04", "After the RTU no message comes."},
		{"ours#05", "The SEND is acknowledged."},
	},
	run: func(r *run) {
		c := r.listens()
		r.at(1)
		q := r.request(c)
		_, first, rep := r.accepted("ours#01", q)
		if first == nil {
			r.halt("no REP answers the REQ")
		}
		same := func(id string, sent *packet.Packet) {
			if got := r.expect(id, sent, mad.AttrREP, q.TID, new(mad.REP)); got != nil {
				r.check(id, bytes.Equal(got.Payload, first.Payload), "the REP as it was first sent", actually(map[bool]string{true: "another one"}[!bytes.Equal(got.Payload, first.Payload)], "the same"), first, got)
			}
		}
		r.at(2)
		same("ours#02", r.says(q))
		r.at(3)
		same("ours#03", first)
		r.at(4)
		rtu := r.says(&mad.RTU{Header: mad.CMHeader(mad.AttrRTU, q.TID), LocalCommID: q.LocalCommID, RemoteCommID: rep.LocalCommID})
		r.quietCM("ours#04", rtu)
		r.at(5)
		r.works("ours#05", c)
	},
}

var dataFirst = &Test{
	ID: "X12_002", Title: "data in place of the RTU",
	Abstract: "A request that comes before the RTU counts as the RTU: the device retransmits no REP and rejects nothing.",
	Covers:   []Statement{{"", NoneID}}, Topology: cmTopology, Needs: Control | Communication,
	Setup: []string{cmSetup},
	Procedure: []string{
		"Send a REQ for the service, and take the REP.",
		"Send no RTU, but a SEND.",
		"Listen for four times eight CM response timeouts.",
	},
	Assertions: []Assertion{
		{"ours#01", "A REP answers the REQ, with its transaction ID."},
		{"ours#02", "The SEND is acknowledged."},
		{"ours#03", "No message comes, no REP and no REJ."},
	},
	run: func(r *run) {
		c := r.listens()
		r.at(1)
		sent, got, _ := r.accepted("ours#01", r.request(c))
		if got == nil {
			r.halt("no REP answers the REQ")
		}
		r.at(2)
		r.works("ours#02", c)
		r.at(3)
		r.quietCM("ours#03", sent, got)
	},
}

var requestAgain = &Test{
	ID: "X12_003", Title: "a REQ that nobody answers",
	Abstract: "A REQ that is not answered is retransmitted unchanged, as often as its Max CM Retries says and not before the CM response timeout of the other side has passed; then the device gives up.",
	Covers:   []Statement{{"", NoneID}}, Topology: cmTopology, Needs: Control | Communication,
	Setup: []string{"Make a queue pair of RC of the device and bring it to RTS."},
	Procedure: []string{
		"Have the device ask for a connection with it: Max CM Retries 3, Remote CM Response Timeout 67 ms.",
		"Answer nothing, and listen until four times eight CM response timeouts have passed without a message.",
	},
	Assertions: []Assertion{
		{"ours#01", "The REQ comes, and at most 3 times more, unchanged."},
		{"ours#02", "Between two is at least the Remote CM Response Timeout."},
		{"ours#03", "After them comes nothing, or a REJ with reason 4."},
	},
	run: func(r *run) {
		c := r.listens()
		r.at(1)
		q := r.request(c)
		q.LocalQPN, q.StartingPSN, q.Primary.LocalGID, q.Primary.RemoteGID = c.qp.QPN, c.attr.RQPSN, deviceAddr, testerAddr
		r.cm.Ask(testerAddr, testerMAC, *q)
		r.at(2)
		var list []*packet.Packet
		for range 4 * (cmRetries + 1) {
			p, h := r.message(silentWindows * cmWindow)
			if p == nil {
				r.check("ours#03", true, "", "nothing", list...)
				break
			}
			if h.Attribute != mad.AttrREQ {
				var j mad.REJ
				ok := h.Attribute == mad.AttrREJ && j.Decode(p.Payload) == nil && j.Reason == mad.RejTimeout
				r.check("ours#03", ok, "nothing, or REJ with reason 4", fmt.Sprintf("%s, reason %d", h.AttributeName(), j.Reason), p)
				continue
			}
			if len(list) > 0 {
				last := list[len(list)-1]
				r.check("ours#01", bytes.Equal(p.Payload, list[0].Payload), "the REQ unchanged", "another one", list[0], p)
				r.check("ours#02", p.Time-last.Time >= 4096<<cmTimeout, "at least "+exact(4096<<cmTimeout), exact(p.Time-last.Time), last, p)
			}
			list = append(list, p)
		}
		r.check("ours#01", len(list) > 0 && len(list) <= cmRetries+1, fmt.Sprintf("1 to %d REQs", cmRetries+1), fmt.Sprintf("%d", len(list)), list...)
	},
}

var disconnects = &Test{
	ID: "X12_004", Title: "DREQ, known and unknown",
	Abstract: "A DREQ is answered by DREP with its transaction ID, also a duplicate, and when the connection is not known.",
	Covers:   []Statement{{"", NoneID}}, Topology: cmTopology, Needs: Control | Communication,
	Setup: []string{cmSetup},
	Procedure: []string{
		"Make a connection by REQ, REP and RTU.",
		"Send the DREQ of it.",
		"Retransmit it.",
		"Send a DREQ of a connection that the device does not have.",
	},
	Assertions: []Assertion{
		{"ours#01", "A REP answers the REQ, with its transaction ID."},
		{"ours#02", "A DREP answers the DREQ, with its transaction ID and communication IDs."},
		{"ours#03", "Another one answers it again."},
		{"ours#04", "A DREP answers the DREQ of a connection that is not known."},
	},
	run: func(r *run) {
		c := r.listens()
		r.at(1)
		q, rep := r.established("ours#01", c)
		ends := func(id string, d *mad.DREQ) {
			sent, m := r.says(d), new(mad.DREP)
			if got := r.expect(id, sent, mad.AttrDREP, d.TID, m); got != nil {
				r.check(id, m.LocalCommID == d.RemoteCommID && m.RemoteCommID == d.LocalCommID, fmt.Sprintf("communication IDs %#x and %#x", d.RemoteCommID, d.LocalCommID),
					fmt.Sprintf("%#x and %#x", m.LocalCommID, m.RemoteCommID), sent, got)
			}
		}
		d := r.disconnect(q.LocalCommID, rep.LocalCommID, rep.LocalQPN)
		r.at(2)
		ends("ours#02", d)
		r.at(3)
		ends("ours#03", d)
		r.at(4)
		ends("ours#04", r.disconnect(unknownCommID, unknownCommID+1, c.qp.QPN+1))
	},
}

// unknownCommID is a communication ID that nobody has.
const unknownCommID = 0x7777_0000
