package conform

import (
	"ibwitness/agent"
	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// network is a way between tester and device: how packets are carried, and the addresses of both.
type network struct {
	encap                    packet.Encap
	tester, device, stranger packet.Addr    // of the last nobody is
	other                    packet.Addr    // another address of the device
	gids                     [2]packet.Addr // on a native link: of tester and device
}

// ways are the networks by which the device is reached on Ethernet, all of them at once, as entries of its table of GIDs. One that is not there has no addresses.
type ways struct{ ipv4, ipv6, rocev1 network }

// v2 are those of RoCEv2 that are there.
func (w *ways) v2() (list []network) {
	for _, n := range []network{w.ipv4, w.ipv6} {
		if n.there() {
			list = append(list, n)
		}
	}
	return list
}

// there reports whether the device is reached by a network.
func (n *network) there() bool { return !n.device.IsZero() }

// simulated are the networks of a device in software.
var simulated = ways{
	ipv4:   network{encap: packet.RoCEv2IPv4, tester: testerAddr, device: deviceAddr, stranger: strangerAddr, other: packet.IPv4Addr([]byte{10, 0, 0, 9})},
	ipv6:   network{encap: packet.RoCEv2IPv6, tester: global(2), device: global(1), stranger: global(3)},
	rocev1: network{encap: packet.RoCEv1, tester: testerAddr, device: deviceAddr, stranger: strangerAddr},
}

// The networks of InfiniBand.
var (
	onLink = network{
		encap: packet.Native, tester: packet.LIDAddr(2), device: packet.LIDAddr(1), stranger: packet.LIDAddr(3), other: global(1),
		gids: [2]packet.Addr{{Hi: sitePrefix, Lo: 0x0002_0000_0000_0201}, {Hi: sitePrefix, Lo: 0x0002_0000_0000_0101}},
	}
	// onCable is the same with the LIDs that the tester gives as a subnet manager.
	onCable = network{
		encap: packet.Native, tester: packet.LIDAddr(testerLID), device: packet.LIDAddr(nodeLID), stranger: packet.LIDAddr(3), other: global(1), gids: onLink.gids,
	}
)

const (
	sitePrefix    = 0xFD00 << 48
	defaultPrefix = 0xFE80 << 48
)

// global is an address of IPv6 that ends as one of IPv4 does, so that both have one MAC address.
func global(host uint64) packet.Addr { return packet.Addr{Hi: sitePrefix, Lo: 0x0A00_0000 | host} }

// gids is the port's table of GIDs on Ethernet after its first entry: each address is there for both versions of RoCE.
var gids = []wqe.GID{
	{Addr: simulated.ipv4.device, RoCEv1: true},
	{Addr: simulated.ipv6.device},
	{Addr: simulated.ipv6.device, RoCEv1: true},
	{Addr: simulated.ipv4.other},
	{Addr: simulated.ipv4.other, RoCEv1: true},
}

// side is the device as it is reached by one network: verbs events tell of its queue pairs at that address.
type side struct {
	dev    *agent.Device
	memory region
}

// use has the queue pairs that are made from now on be reached by a network.
func (r *run) use(n network) {
	r.needs(n)
	r.net = n
	s := r.sides[n.device]
	if s == nil {
		s = &side{dev: agent.NewDevice(agent.DeviceOptions{
			Addr: n.device, Now: r.clock.Now, Control: r.device, Query: r.device, Event: r.event, Payload: regionSize, Limits: r.limits,
		})}
		r.sides[n.device] = s
		r.dev = s.dev
		r.register(&s.memory)
	}
	r.dev, r.memory = s.dev, &s.memory
}

// needs ends the test where the device is not reached by one of the networks.
func (r *run) needs(list ...network) {
	for i := range list {
		if !list[i].there() {
			r.inapplicable("the device is not reached by one of the networks of the test")
		}
	}
}

// teller is the device that an event of no verb is of.
func (r *run) teller(e *cq.Event) *agent.Device {
	for _, c := range r.conns {
		if e.QP.QPN == c.qp.QPN || e.Kind == cq.EvNotify && e.CQ == c.cq {
			return c.dev
		}
	}
	return r.dev
}

// routed gives the attributes of a queue pair its way to the tester. What is the same for all tests on IPv4 is not said.
func (r *run) routed(a *qp.Attr) {
	n := &r.net
	a.DestAddr = n.tester
	switch n.encap {
	case packet.RoCEv2IPv4:
		if r.live != nil {
			a.Known |= qp.KnowsSourceAddr
			a.SourceAddr = n.device
		}
	case packet.Native:
		a.Known |= qp.KnowsGRH | qp.KnowsSourceAddr
		a.GRH, a.SourceAddr, a.DestGID = true, n.gids[1], n.gids[0]
	default:
		a.Known |= qp.KnowsSourceAddr
		a.SourceAddr, a.RoCEv1 = n.device, n.encap == packet.RoCEv1
	}
}

// vector gives an address vector its way to the tester.
func (n *network) vector(v wqe.AddressVector) wqe.AddressVector {
	v.Dest = n.tester
	switch n.encap {
	case packet.Native:
		v.GRH, v.DestGID = true, n.gids[0]
	default:
		v.Source = wqe.GID{Addr: n.device, RoCEv1: n.encap == packet.RoCEv1}
	}
	return v
}
