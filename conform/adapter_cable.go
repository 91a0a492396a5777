package conform

import (
	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/fabricagent/ibsim"
	"ibwitness/fabricagent/sim"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/subnet"
	"ibwitness/subnet/sma"
	"ibwitness/wqe"
)

// cableBuffer is how many blocks each lane of an adapter on a native link can hold: as many as credits can offer, and more.
const cableBuffer = 4096

// linkOptions are those of the link of an adapter.
var linkOptions = sim.LinkOptions{Symbol: 4000, Lanes: 4, Ports: [2]sim.LinkPort{{}, {Buffer: cableBuffer}}}

// buildCabled puts an adapter and the tester on a native link, with a tap at the adapter. The tester is the subnet manager, too.
func (r *run) buildCabled(target *Target) {
	r.result.Link = fabricagent.LinkTap
	m := &manager{r: r, wait: firstWait, psn: map[ibsim.End]packet.PSN{}, sent: map[uint64]bool{}}
	r.manager, r.tester = m, &tester{r: r, mac: testerMAC, deviceMAC: deviceMAC, sent: m.sent}
	r.mine = func(f *rule.Finding) bool {
		a := f.Accused.Addr
		return !ofCable(a, deviceEnd) && a != onCable.device && (m.sent[f.Frame] || ofCable(a, testerEnd) || a == onCable.tester)
	}
	r.session = agent.NewSession(agent.Options{Near: []packet.Addr{onCable.device, packet.LIDAddr(mad.PermissiveLID)}, Profile: target.Profile})
	var err error
	r.tester.tap = r.tap("device")
	port := Port{
		Addr: onCable.device, GIDs: []wqe.GID{{Addr: onCable.gids[1]}, {Addr: onCable.other}}, MAC: deviceMAC, Clock: r.clock, Seed: r.seed,
		Send: func(frame []byte) { m.plugged.departs(frame) }, Event: r.hears,
	}
	r.device, m.node, err = target.Cabled(port)
	r.can(err)
	tester, err := sma.New(sma.Config{Type: subnet.ChannelAdapter, GUID: testerGUID, Description: "tester", Ports: 1})
	r.can(err)
	m.from = ibsim.End{Node: tester, Port: 1}
	r.profile, r.limits, r.sides = target.Profile, r.device.Limits(), map[packet.Addr]*side{}
	r.use(onCable)
	m.plugCable(target, r.device, linkOptions)
}

// cableStart is the first step of the tests of adapters on native links: the device is asked what it is, and gets its LID.
const cableStart = "Get NodeInfo and PortInfo of the device, and give LIDs to it and to the tester."

// begins takes the first step.
func (r *run) begins() *manager {
	m := r.manager
	r.at(1)
	m.get(mad.AttrNodeInfo, 0)
	m.learn(m.get(mad.AttrPortInfo, 0))
	m.address()
	return m
}

// active takes the first step and the link to Active, and makes a queue pair of UD of the device.
func (r *run) active() (*manager, *conn) {
	m := r.begins()
	m.activates()
	return m, r.datagram()
}

// activates takes the link to Active.
func (m *manager) activates() {
	for _, state := range []uint64{sma.Armed, sma.Active} {
		if x := m.advance(state); !x.succeeded() {
			m.r.halt("a Set that takes the link to %s is not taken: %s", stateText(state), x.outcome())
		}
	}
	m.cable.follow(m.from.Node)
}
