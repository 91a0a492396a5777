package conform

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// congestionTests are those of congestion management.
var congestionTests = []*Test{forwardAndBackward, notifies, slowsDown, markedNotification}

// capable is the traffic class of packets that are ECN-capable, and met that of those that have met congestion.
const (
	capable = 2
	met     = 3
)

// notification sends a congestion notification packet (CNP).
func (c *conn) notification(tclass uint8) *packet.Packet {
	p := packet.Packet{Opcode: packet.OpCNP, TClass: tclass}
	c.to(&p)
	p.MigReq = false
	return c.r.tester.send(&p, nil)
}

// notifications takes the CNPs out of what has arrived.
func (c *conn) notifications() (list []*packet.Packet) {
	c.arrived = slices.DeleteFunc(c.arrived, func(p *packet.Packet) bool {
		if p.Opcode == packet.OpCNP {
			list = append(list, p)
		}
		return p.Opcode == packet.OpCNP
	})
	return list
}

var forwardAndBackward = &Test{
	ID: "X17_013", Title: "FECN and BECN",
	Abstract: "Requests and ACKs with FECN and BECN set are taken as others are, and the device sets neither.",
	Covers:   []Statement{{"CA17-29", Stated}}, Topology: pairTopology, Needs: Control | Memory,
	Setup: []string{"Connect a queue pair of RC."},
	Procedure: []string{
		"Send a WRITE with FECN, with BECN, and with both, and receive its ACK.", "Have the device post a SEND, and acknowledge it with FECN, with BECN, and with both.",
		"Have the device send SENDs, WRITEs and READs, and answer them; send a WRITE and a READ.",
	},
	Assertions: []Assertion{{"ours#01", "The WRITE is acknowledged."}, {"ours#02", "The SEND completes once, with success."}, {"ours#03", "FECN and BECN are 0 in what the device sends."}},
	Decisions:  ours,
	Breaks:     []string{"BTH-016"},
	run: func(r *run) {
		c := r.connect(pathed(0, 64))
		for i := range 3 {
			set := func(p *packet.Packet) { p.FECN, p.BECN = i != 1, i != 0 }
			r.again(1)
			p := c.spoiled(c.request(packet.WriteOnly, pattern(1, 64), nil), sealed(set))
			c.next = c.next.Add(1)
			got := c.answer()
			if !c.acked("ours#01", p, got, p.PSN, uint32(i+1)) {
				return
			}
			r.again(2)
			c.posts(wqe.OpSend, 64, nil)
			list := c.everything()
			c.taken++
			ack := c.spoiled(packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), PSN: c.expects, Syndrome: positive, MSN: c.taken}, sealed(set))
			c.expects = c.expects.Add(1)
			had := len(c.completions)
			c.once("ours#02", c.completed(had+1, r.soon())[had:], cq.Success, ack)
			r.again(3)
			for _, p := range append(list, got) {
				r.check("ours#03", !p.FECN && !p.BECN, "FECN 0, BECN 0", fmt.Sprintf("FECN %t, BECN %t", p.FECN, p.BECN), p)
			}
		}
		c.ownEach("ours#03", "FECN 0, BECN 0", func(p *packet.Packet) string {
			if p.FECN || p.BECN {
				return fmt.Sprintf("FECN %t, BECN %t", p.FECN, p.BECN)
			}
			return ""
		}, 64)
	},
}

var notifies = &Test{
	ID: "X17_014", Title: "congestion notification",
	Abstract: "For packets that have met congestion the device sends CNPs to the queue pairs that sent them, in the format that is laid down and not more often than it is set to; for others it sends none.",
	Covers:   []Statement{{"CA17-44", Stated}}, Topology: pairTopology, Needs: Control | Notifies,
	Setup: []string{"Connect two queue pairs of RC, and make one of UD with receive requests, all ECN-capable."},
	Procedure: []string{
		"Send requests with ECN 10 to all, and wait for 10 ms.", "Send 30 requests with ECN 11 to each, 10 us apart, and wait for 10 ms.", "Have the device post a SEND on each connection.",
	},
	Assertions: []Assertion{
		{"ours#01", "Each queue pair of the tester whose packets have met congestion is sent a CNP, within 100 us of the first."},
		{"ours#02", "None is sent for other packets, nor more than there were marks, nor more than one when they have ended."},
		{"ours#03", "A CNP has SE, MigReq, PadCnt, AckReq and PSN 0, the P_Key of the marked packets, 16 reserved bytes of 0, and 32 bytes after the UDP header."},
		{"ours#04", "To one queue pair they are at least as far apart as the device is set to."},
		{"ours#05", "They have the DSCP that the device is set to."},
		{"ours#06", "They take no PSN: the SEND has the first one."},
	},
	Decisions: []Decision{{"The plan: spacing as set.", "Ours. No verb sets it: what the profile of the device says. Where it paces by address or port, marks of several queue pairs may have one CNP, and the first assertion asks for one in all."}},
	Breaks:    []string{"ROC-V2-005"},
	run: func(r *run) {
		var list []*conn
		for _, t := range []qp.Type{qp.TypeRC, qp.TypeRC, qp.TypeUD} {
			c := r.connectAs(t, pathed(capable, 64), nil)
			if list = append(list, c); c.service == packet.UD {
				for range 32 {
					c.postReceive(128)
				}
			}
		}
		each := func(tclass uint8) {
			for _, c := range list {
				f := packet.WriteOnly
				if c.service == packet.UD {
					f = packet.SendOnly
				}
				c.ask(f, pattern(1, 64), func(p *packet.Packet) { p.TClass = tclass })
			}
		}
		r.at(1)
		each(capable)
		r.settle()
		for _, c := range list {
			got := c.notifications()
			if !r.check("ours#02", len(got) == 0, "no CNP", fmt.Sprintf("%d", len(got)), got...) {
				r.why = "the device sends CNPs that nothing asks for"
				return
			}
		}
		r.at(2)
		begun := r.now()
		for range 30 {
			each(met)
			r.wait(10_000)
		}
		ended := r.now()
		r.settle()
		all := 0
		for _, c := range list {
			all += c.notified(begun, ended)
		}
		if by := r.profile.CNPs.By; by != verifier.PacedByQP {
			r.check("ours#01", all > 0, "a CNP", "none")
		}
		r.at(3)
		for _, c := range list[:2] {
			c.arrived = nil // the ACKs
			c.posts(wqe.OpSend, 64, nil)
			p := c.answer()
			r.check("ours#06", p != nil && p.PSN == c.expects, fmt.Sprintf("PSN %v", c.expects), happened(p, nil), p)
		}
	},
}

// notified judges the CNPs for a time in which requests were marked, and returns how many there are.
func (c *conn) notified(begun, ended int64) int {
	r, set := c.r, &c.r.profile
	list := c.notifications()
	if set.CNPs.By == verifier.PacedByQP {
		soon := len(list) > 0 && list[0].Time-begun <= 100_000
		r.check("ours#01", soon, "a CNP within 100 us", tellCNPs(list, begun), list[:min(1, len(list))]...)
	}
	late := 0
	for i, p := range list {
		if p.Time > ended+2*wireDelay {
			late++
		}
		d := notificationDeparts(p, 0xFFFF)
		r.check("ours#03", d == "", "the format of a CNP", actually(d, "that"), p)
		if i > 0 {
			apart := p.Time - list[i-1].Time
			r.check("ours#04", apart >= int64(set.CNPs.Every), fmt.Sprintf("at least %v", set.CNPs.Every), exact(apart), list[i-1], p)
		} else if len(list) == 1 {
			r.check("ours#04", true, "", "one CNP", p)
		}
		if set.HasDSCP {
			r.check("ours#05", p.TClass>>2 == set.DSCP, fmt.Sprintf("DSCP %d", set.DSCP), fmt.Sprintf("DSCP %d", p.TClass>>2), p)
		} else {
			r.skip("ours#05", "it is not known which DSCP the device is set to")
		}
	}
	r.check("ours#02", len(list) <= 30 && late <= 1, "at most 30 CNPs, one of them after the last mark", fmt.Sprintf("%d, %d of them after the last mark", len(list), late), list...)
	return len(list)
}

func tellCNPs(list []*packet.Packet, begun int64) string {
	if len(list) == 0 {
		return "none"
	}
	return fmt.Sprintf("%d, the first after %v", len(list), time.Duration(list[0].Time-begun))
}

// notificationDeparts says what is wrong with a CNP.
func notificationDeparts(p *packet.Packet, pkey uint16) string {
	var d departure
	d.note(1, "SE", !p.SE, false, true)
	d.note(1, "MigReq", !p.MigReq, false, true)
	d.note(1, "pad count", p.PadCnt == 0, 0, p.PadCnt)
	d.note(1, "AckReq", !p.AckReq, false, true)
	d.note(1, "PSN", p.PSN == 0, 0, p.PSN)
	d.note(1, "P_Key", p.PKey == pkey, hex(uint64(pkey)), hex(uint64(p.PKey)))
	d.note(1, "UDP length", p.UDPLen == 8+32, 8+32, p.UDPLen)
	d.note(1, "reserved bytes", !slices.ContainsFunc(p.Payload, func(b byte) bool { return b != 0 }), "zeros", "others")
	return strings.Join(d[0], ", ")
}
