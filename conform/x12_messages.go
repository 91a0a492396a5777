package conform

import (
	"fmt"

	"ibwitness/hcaagent/cma"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/qp"
)

// What the tester says in its REQs.
const (
	cmService     mad.ServiceID = 0x1000_0000_0000_0001 // that the device listens for
	cmOther       mad.ServiceID = 0x1000_0000_0000_0002 // that it does not have
	cmTimeout                   = 14                    // code of CM response timeouts: 67 ms
	cmRetries                   = 3                     // Max CM Retries
	resources                   = 4                     // READs and atomics
	mtuCode                     = 3                     // 1024 bytes
	cmWindow                    = int64(8) * 4096 << cmTimeout
	cmSetup                     = "Make a queue pair of RC of the device and bring it to RTS; its consumer listens with it for a service."
	cmTopology                  = pairTopology
	silentWindows               = 4 // of cmWindow
)

// listens has the consumer of the device listen with a queue pair.
func (r *run) listens() *conn {
	c := r.connect(func(a *qp.Attr) { a.RetryCnt, a.RNRRetry = 7, 7 })
	r.cm.Listen(cmService, cma.Offer{QPN: c.qp.QPN, PSN: c.attr.RQPSN, Resources: resources, Depth: resources})
	return c
}

// request is a REQ of the tester for a connection, with a new communication ID.
func (r *run) request(c *conn) *mad.REQ {
	r.commID++
	return &mad.REQ{
		Header: mad.CMHeader(mad.AttrREQ, uint64(r.commID)), LocalCommID: r.commID, ServiceID: cmService, LocalCAGUID: testerGUID, LocalQPN: c.qpn, ResponderResources: resources,
		InitiatorDepth: resources, RemoteCMTimeout: cmTimeout, FlowControl: true, StartingPSN: c.attr.SQPSN, LocalCMTimeout: cmTimeout, RetryCount: 7, PKey: 0xFFFF, PathMTU: mtuCode,
		RNRRetryCount: 7, MaxCMRetries: cmRetries,
		Primary: mad.Path{
			LocalLID: mad.PermissiveLID, RemoteLID: mad.PermissiveLID, LocalGID: testerAddr, RemoteGID: deviceAddr, HopLimit: 64, Rate: 3, LocalAckTimeout: cmTimeout,
		},
	}
}

// says sends a message of the communication manager.
func (r *run) says(m mad.Message) *packet.Packet {
	b := make([]byte, mad.Size)
	r.can(m.Encode(b))
	p := gmp(b)
	p.PSN = packet.PSN(r.commPSN)
	r.commPSN++
	return r.tester.send(p, nil)
}

// message takes the next message of the device, where one comes in a time.
func (r *run) message(wait int64) (p *packet.Packet, h mad.Header) {
	t := r.tester
	if !r.until(r.now()+wait, func() bool { return len(t.managed) > 0 }) {
		return nil, h
	}
	p, t.managed = t.managed[0], t.managed[1:]
	r.can(mad.DecodeHeader(p.Payload, &h))
	r.note("frame %d is %s, transaction ID %#x", p.Frame, h.AttributeName(), h.TID)
	return p, h
}

// expect judges that a message is the next of the device, with a transaction ID, and decodes it into m.
func (r *run) expect(id string, sent *packet.Packet, a mad.Attribute, tid uint64, m mad.Message) *packet.Packet {
	p, h := r.message(cmWindow)
	want := mad.CMHeader(a, tid)
	text := fmt.Sprintf("%s, transaction ID %#x", want.AttributeName(), tid)
	if p == nil {
		r.check(id, false, text, "no message", sent)
		return nil
	}
	if !r.check(id, h.Class == mad.ClassCM && h.Attribute == a && h.TID == tid, text, fmt.Sprintf("%s, transaction ID %#x", h.AttributeName(), h.TID), sent, p) {
		return nil
	}
	r.can(m.Decode(p.Payload))
	return p
}

// quietCM judges that no message comes in some windows.
func (r *run) quietCM(id string, frames ...*packet.Packet) {
	p, h := r.message(silentWindows * cmWindow)
	actual := "no message"
	if p != nil {
		actual = h.AttributeName()
	}
	r.check(id, p == nil, "no message", actual, append(frames, p)...)
}

// accepted sends a REQ, and judges that a REP answers it, whose message comes back.
func (r *run) accepted(id string, q *mad.REQ) (sent, got *packet.Packet, rep *mad.REP) {
	rep = new(mad.REP)
	sent = r.says(q)
	got = r.expect(id, sent, mad.AttrREP, q.TID, rep)
	if got == nil {
		return sent, nil, nil
	}
	ok := rep.RemoteCommID == q.LocalCommID && rep.LocalCommID != 0 && rep.LocalQPN > gsiQP && rep.LocalCAGUID != 0 && rep.ResponderResources <= q.InitiatorDepth && rep.InitiatorDepth <= q.ResponderResources
	r.check(id, ok, fmt.Sprintf("remote communication ID %#x, a local one, a queue pair, a GUID, and no more READs than the REQ names", q.LocalCommID),
		fmt.Sprintf("communication IDs %#x and %#x, queue pair %#x, GUID %#x, %d and %d READs", rep.RemoteCommID, rep.LocalCommID, rep.LocalQPN, rep.LocalCAGUID,
			rep.ResponderResources, rep.InitiatorDepth), sent, got)
	return sent, got, rep
}

// established makes a connection by REQ, REP and RTU; the test ends where it is not made.
func (r *run) established(id string, c *conn) (q *mad.REQ, rep *mad.REP) {
	q = r.request(c)
	_, got, rep := r.accepted(id, q)
	if got == nil {
		r.halt("no REP answers the REQ")
	}
	r.says(&mad.RTU{Header: mad.CMHeader(mad.AttrRTU, q.TID), LocalCommID: q.LocalCommID, RemoteCommID: rep.LocalCommID})
	r.settle()
	return q, rep
}

// disconnect is a DREQ of the tester.
func (r *run) disconnect(local, remote, qpn uint32) *mad.DREQ {
	r.commID++
	return &mad.DREQ{Header: mad.CMHeader(mad.AttrDREQ, uint64(r.commID)), LocalCommID: local, RemoteCommID: remote, RemoteQPN: qpn}
}

// works judges that data pass the connection.
func (r *run) works(id string, c *conn) {
	c.postReceive(64)
	sent := c.ask(packet.SendOnly, make([]byte, 64), nil)
	c.acked(id, sent, c.answer(), sent.PSN, 1)
}
