package sim

import (
	"encoding/binary"
	"maps"
	"slices"

	"ibwitness/link"
	"ibwitness/packet"
)

// LinkFault is a way in which a port of a link can be at fault. Most spoil one flow control packet or one data packet; the others look for their name where
// they belong.
type LinkFault struct {
	Text string            // what it does, in one line
	Rule string            // id of the rule that must catch it
	Also map[string]string // the rules that are broken with it, each with the reason

	flow   func(p *linkPort, l *linkLane, f *link.FlowControl) bool // spoils a flow control packet, and is false where it cannot
	raw    func(b []byte) []byte                                    // spoils the bytes of one
	data   func(p *linkPort, data []byte) []byte                    // spoils a data packet, or returns nil where it cannot
	Tester bool                                                     // no right peer gives the occasion for it, or no rule of links judges it: conformance tests show it

	told bool // it is one by what subnet management has told of the port
}

// LinkFaultNames returns the names of the faults of links that rules judge, in order.
func LinkFaultNames() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(LinkFaults)), func(name string) bool { return LinkFaults[name].Tester })
}

// LinkFaults are the faults that a port of a link can have, by name.
var LinkFaults = map[string]*LinkFault{
	"blocks-too-few":           {Text: "says that it has sent a block less than it has", Rule: "LNK-FCP-004", flow: afterData(func(f *link.FlowControl) { f.FCTBS-- })},
	"blocks-too-many":          {Text: "says that it has sent 300 blocks more than it has", Rule: "LNK-FCP-004", flow: afterData(func(f *link.FlowControl) { f.FCTBS += 300 })},
	"blocks-not-zero":          {Text: "counts blocks that it has sent from 5 on", Rule: "LNK-FCP-010", flow: beginsAt(5)},
	"credits-beyond-window":    {Text: "offers more than 2048 blocks", Rule: "LNK-FCP-006", flow: credits(link.Window, func(f *link.FlowControl) { f.FCCL += 250 })},
	"offer-taken-back":         {Text: "takes credits back", Rule: "LNK-FCP-011", flow: afterData(func(f *link.FlowControl) { f.FCCL -= 1500 })},
	"operand-init":             {Text: "says init though it is active", Rule: "LNK-FCP-003", flow: afterData(func(f *link.FlowControl) { f.Op = link.Init })},
	"operand-normal":           {Text: "says normal when it has just come up", Rule: "LNK-FCP-003", flow: whileInit(func(f *link.FlowControl) { f.Op = link.Normal })},
	"operand-reserved":         {Text: "sends a flow control packet with operand 7", Rule: "LNK-FCP-002", flow: beside(func(f *link.FlowControl) { f.Op = 7 })},
	"flow-control-of-vl15":     {Text: "sends a flow control packet for VL 15", Rule: "LNK-FCP-009", flow: beside(func(f *link.FlowControl) { f.VL = vl15 })},
	"lpcrc":                    {Text: "sends a flow control packet with a wrong LPCRC", Rule: "LNK-FCP-001", raw: func(b []byte) []byte { b[len(b)-1] ^= 1; return b }},
	"long-flow-control":        {Text: "sends a flow control packet of eight bytes", Rule: "LNK-FCP-001", raw: func(b []byte) []byte { return append(b, 0, 0) }},
	"silent-lane":              {Text: "does not tell of a lane for longer than the update interval", Rule: "LNK-FCP-008"},
	"discards-counted":         {Text: "counts a damaged packet that it discards as received", Rule: "LNK-FCP-005"},
	"credits-ignored":          {Text: "sends a packet that it has no credits for", Rule: "LNK-FCP-007"},
	"data-while-initialize":    {Text: "sends a data packet in LinkInitialize", Rule: "LNK-ST-002"},
	"sends-while-down":         {Text: "sends a flow control packet though it is down", Rule: "LNK-ST-005"},
	"physical-state":           {Text: "has a physical state that there is not", Rule: "LNK-ST-006"},
	"lane-not-operational":     {Text: "sends a data packet on a lane that is not operational", Rule: "LNK-VL-006", data: otherLane},
	"data-on-vl15":             {Text: "sends a data packet on VL 15", Rule: "LNK-VL-001", data: func(_ *linkPort, b []byte) []byte { onLane(b, vl15); return b }},
	"wrong-lane":               {Text: "sends a data packet on a lane that its table does not have for the SL", Rule: "SMP-SV-003", data: wrongLane, told: true},
	"longer-than-mtu":          {Text: "sends a packet that is longer than the MTU of the link", Rule: "LNK-LRH-007", told: true},
	"vcrc":                     {Text: "sends a data packet with a wrong VCRC", Rule: "LNK-CRC-001", data: func(_ *linkPort, b []byte) []byte { b[len(b)-1] ^= 1; return b }},
	"runt":                     {Text: "sends five bytes as a data packet", Rule: "LNK-LRH-001", data: func(_ *linkPort, b []byte) []byte { return b[:5] }},
	"half-word":                {Text: "sends a byte after the VCRC", Rule: "LNK-LRH-008", data: func(_ *linkPort, b []byte) []byte { return append(b, 0) }},
	"link-version":             {Text: "sends a data packet of link version 1", Rule: "LNK-LRH-002", data: change(func(p *packet.Packet) { p.LVer = 1 })},
	"lrh-reserved":             {Text: "sets a reserved bit of the LRH", Rule: "LNK-LRH-003", data: change(func(p *packet.Packet) { p.LRHRes = 0x40 })},
	"destination-lid-zero":     {Text: "sends a data packet to LID 0", Rule: "LNK-LID-001", data: change(func(p *packet.Packet) { p.DLID = 0 })},
	"source-lid-multicast":     {Text: "sends a data packet from a multicast LID", Rule: "LNK-LID-003", data: change(func(p *packet.Packet) { p.SLID = 0xC001 })},
	"arrivals-uncounted":       {Text: "does not count the blocks that come in its offers, until the other port tells of them", Tester: true},
	"fctbs-ignored":            {Text: "does not take the count of blocks that the other port tells", Tester: true},
	"credits-forgotten":        {Text: "takes only the first credits of a lane that it is given", Tester: true},
	"management-held":          {Text: "sends no packets of VL 15 without credits on VL 0", Tester: true},
	"management-on-lane-0":     {Text: "sends packets of VL 15 on VL 0, without credits", Tester: true},
	"credits-short":            {Text: "sends nothing that takes the last block of those that are offered", Tester: true},
	"waiting-lost":             {Text: "loses the data packets that wait when it becomes active", Tester: true},
	"bad-fcp-taken":            {Text: "takes flow control packets with a wrong LPCRC or a reserved operand", Tester: true},
	"lane-taken":               {Text: "takes packets on lanes that are not operational", Tester: true},
	"data-in-initialize-taken": {Text: "takes data packets in LinkInitialize", Tester: true},
	"permissive-destination":   {Text: "sends a data packet to the permissive LID", Rule: "LNK-LID-004", data: change(func(p *packet.Packet) { p.DLID = 0xFFFF })},
}

// afterData spoils flow control packets of an active port that has sent something on the lane.
func afterData(spoil func(f *link.FlowControl)) func(*linkPort, *linkLane, *link.FlowControl) bool {
	return func(p *linkPort, l *linkLane, f *link.FlowControl) bool {
		return p.state == portActive && l.sent > 0 && p.due(spoil, f)
	}
}

// beside is afterData where the port sends the right packet as well.
func beside(spoil func(f *link.FlowControl)) func(*linkPort, *linkLane, *link.FlowControl) bool {
	return func(p *linkPort, l *linkLane, f *link.FlowControl) bool {
		l.due = p.state == portActive && l.sent > 0 && p.due(spoil, f)
		return l.due
	}
}

// whileInit spoils flow control packets of a port in LinkInitialize.
func whileInit(spoil func(f *link.FlowControl)) func(*linkPort, *linkLane, *link.FlowControl) bool {
	return func(p *linkPort, _ *linkLane, f *link.FlowControl) bool {
		return p.state == portInitialize && p.due(spoil, f)
	}
}

// beginsAt has the port count its blocks from there on.
func beginsAt(blocks uint16) func(*linkPort, *linkLane, *link.FlowControl) bool {
	return func(p *linkPort, l *linkLane, f *link.FlowControl) bool {
		return p.state == portInitialize && p.due(func(*link.FlowControl) { l.sent, f.FCTBS = blocks, blocks }, f)
	}
}

// credits spoils flow control packets that offer at least so many blocks.
func credits(least int, spoil func(f *link.FlowControl)) func(*linkPort, *linkLane, *link.FlowControl) bool {
	return func(p *linkPort, l *linkLane, f *link.FlowControl) bool {
		return p.state == portActive && p.link.ahead(f.FCCL, l.abr) >= least && p.due(spoil, f)
	}
}

// due spoils a flow control packet if it is its turn.
func (p *linkPort) due(spoil func(f *link.FlowControl), f *link.FlowControl) bool {
	if !p.turn() {
		return false
	}
	spoil(f)
	return true
}

// otherLane puts a packet on the lane after those that are operational.
func otherLane(p *linkPort, b []byte) []byte {
	onLane(b, uint8(p.link.opt.Lanes))
	return b
}

// wrongLane puts a packet on another operational lane, where that has credits for it.
func wrongLane(p *linkPort, b []byte) []byte {
	vl := (int(b[0]>>4) + 1) % p.link.opt.Lanes
	l := &p.lanes[vl]
	words := int(binary.BigEndian.Uint16(b[4:]) & 0x7FF)
	if vl == int(b[0]>>4) || !l.may || p.link.ahead(l.credit, l.sent+uint16(p.link.blocks(words))) > link.Window {
		return nil
	}
	onLane(b, uint8(vl))
	return b
}

// change builds a data packet otherwise, with checksums that are right.
func change(how func(p *packet.Packet)) func(*linkPort, []byte) []byte {
	return func(_ *linkPort, b []byte) []byte {
		var p packet.Packet
		if !packet.DecodeInfiniBand(&p, b, len(b)) {
			return b
		}
		how(&p)
		p.SealICRC()
		return p.Append(nil)
	}
}

// turn reports whether it is the turn of the fault, on an occasion to show it.
func (p *linkPort) turn() bool {
	if p.made > 0 && !p.FaultAll {
		return false
	}
	if p.left > 0 {
		p.left--
		return false
	}
	p.made++
	return true
}

// breaks reports whether the port has a fault and this is the occasion on which it shows it.
func (p *linkPort) breaks(name string) bool { return p.Fault == name && p.turn() }

// shows is breaks, where the next frame that leaves is the one that shows it.
func (p *linkPort) shows(name string) bool {
	p.show = p.show || p.breaks(name)
	return p.show
}

// spoilFlow makes the fault show in a flow control packet, and returns what is still to be done to its bytes.
func (p *linkPort) spoilFlow(l *linkLane, f *link.FlowControl) (raw func([]byte) []byte) {
	switch ft := p.fault; {
	case ft == nil:
	case ft.flow != nil:
		p.show = p.show || ft.flow(p, l, f)
	case ft.raw != nil && p.state == portActive && p.turn():
		p.show = true
		return ft.raw
	}
	return nil
}

// spoil makes the fault show in a data packet.
func (p *linkPort) spoil(data []byte) []byte {
	if p.fault == nil || p.fault.data == nil || p.state != portActive || p.fault.told && !p.told || !p.turn() {
		return data
	}
	bad := p.fault.data(p, data)
	if bad == nil {
		p.made--
		return data
	}
	p.show = true
	return bad
}

// mustNot reports whether the port sends the next packet of a lane though it may not.
func (p *linkPort) mustNot(l *linkLane) bool {
	switch p.state {
	case portActive:
		return l.may && p.shows("credits-ignored")
	case portInitialize:
		return p.shows("data-while-initialize")
	}
	return false
}

// Shown is how often a port has shown its fault.
func (l *Link) Shown(port int) uint64 { return l.ports[port].made }
