package live

import "golang.org/x/net/bpf"

// What the filters look for (IEEE 802, IEEE 802.3 annexes 31B and 31D, RFC 791, RFC 8200, annexes A16 and A17).
const (
	etherIPv4  = 0x0800
	etherVLAN  = 0x8100
	etherIPv6  = 0x86dd
	etherQinQ  = 0x88a8
	etherCtrl  = 0x8808
	etherRoCE  = 0x8915
	etherOldQQ = 0x9100
	opPause    = 0x0001
	opPFC      = 0x0101
	protoUDP   = 17
	portRoCE   = 4791

	headerHopByHop    = 0
	headerRouting     = 43
	headerFragment    = 44
	headerDestination = 60

	etherSize = 14
	vlanSize  = 4
	maxVLANs  = 3 // in the frame; one more may be in its metadata
	ipv6Size  = 40
)

// roce is the kernel's filter: it passes up to snap bytes of the frames that carry RoCE, version 1 or 2, with and without VLAN tags, pause frames, and
// nothing else. Between the headers of IPv6 and UDP there may be one extension header. Of several rings that share an interface, each has its share of the
// pairs of hosts.
func roce(snap uint32, ring, rings int) ([]bpf.RawInstruction, error) {
	var p program
	if rings > 1 {
		p.share(uint32(ring), uint32(rings))
	}
	for tags := range maxVLANs + 1 {
		at := uint32(etherSize + vlanSize*tags)
		p.add(bpf.LoadConstant{Dst: bpf.RegX, Val: at}, bpf.LoadAbsolute{Off: at - 2, Size: 2})
		p.unless([]uint32{etherVLAN, etherQinQ, etherOldQQ}, "type")
	}
	p.jump("drop")
	p.label("type")
	p.when(etherRoCE, "pass")
	p.when(etherCtrl, "control")
	p.when(etherIPv4, "IPv4")
	p.when(etherIPv6, "IPv6")
	p.jump("drop")

	p.label("control")
	p.add(bpf.LoadIndirect{Size: 2})
	p.when(opPause, "pass")
	p.when(opPFC, "pass")
	p.jump("drop")

	p.label("IPv4")
	p.add(bpf.LoadIndirect{Off: 9, Size: 1})
	p.unless([]uint32{protoUDP}, "drop")
	p.add(bpf.LoadIndirect{Off: 6, Size: 2}, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: 0x1fff})
	p.unless([]uint32{0}, "drop") // only the first fragment has the ports
	p.add(bpf.LoadIndirect{Size: 1}, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: 0xf}, bpf.ALUOpConstant{Op: bpf.ALUOpShiftLeft, Val: 2},
		bpf.ALUOpX{Op: bpf.ALUOpAdd}, bpf.TAX{}, bpf.LoadIndirect{Off: 2, Size: 2})
	p.when(portRoCE, "pass")
	p.jump("drop")

	p.label("IPv6")
	p.add(bpf.LoadIndirect{Off: 6, Size: 1})
	p.when(protoUDP, "UDP")
	p.when(headerFragment, "fragment")
	p.unless([]uint32{headerHopByHop, headerRouting, headerDestination}, "drop")
	p.add(bpf.LoadIndirect{Off: ipv6Size, Size: 1})
	p.unless([]uint32{protoUDP}, "drop")
	p.add(bpf.LoadIndirect{Off: ipv6Size + 1, Size: 1}, bpf.ALUOpConstant{Op: bpf.ALUOpAdd, Val: 1}, bpf.ALUOpConstant{Op: bpf.ALUOpShiftLeft, Val: 3},
		bpf.ALUOpX{Op: bpf.ALUOpAdd}, bpf.TAX{})
	p.jump("UDP")
	p.label("fragment")
	p.add(bpf.LoadIndirect{Off: ipv6Size, Size: 1})
	p.unless([]uint32{protoUDP}, "drop")
	p.add(bpf.LoadIndirect{Off: ipv6Size + 2, Size: 2}, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: 0xfff8})
	p.unless([]uint32{0}, "drop")
	p.add(bpf.TXA{}, bpf.ALUOpConstant{Op: bpf.ALUOpAdd, Val: 8}, bpf.TAX{})
	p.label("UDP")
	p.add(bpf.LoadIndirect{Off: ipv6Size + 2, Size: 2})
	p.when(portRoCE, "pass")

	p.label("drop")
	p.add(bpf.RetConstant{Val: 0})
	p.label("pass")
	p.add(bpf.RetConstant{Val: snap})
	return p.assemble()
}

// netOffset is where the kernel has the network header, whatever precedes it (SKF_NET_OFF).
const netOffset = 0xfff00000

// share drops what is for other rings. Both directions between two hosts go to one ring, as the order of requests and responses counts. The kernel could
// spread the frames itself (PACKET_FANOUT), but sockets that it spreads them over can never be bound to another interface.
func (p *program) share(ring, rings uint32) {
	p.add(bpf.LoadExtension{Num: bpf.ExtProto})
	p.when(etherIPv4, "hosts of IPv4")
	p.when(etherIPv6, "hosts of IPv6")
	p.when(etherRoCE, "hosts of IPv6") // the GRH has its addresses where IPv6 has them
	p.add(bpf.LoadConstant{Val: 0})
	p.jump("spread")
	p.label("hosts of IPv4")
	p.add(bpf.LoadAbsolute{Off: netOffset + 12, Size: 4}, bpf.TAX{}, bpf.LoadAbsolute{Off: netOffset + 16, Size: 4})
	p.jump("mix")
	p.label("hosts of IPv6")
	p.add(bpf.LoadAbsolute{Off: netOffset + 20, Size: 4}, bpf.TAX{}, bpf.LoadAbsolute{Off: netOffset + 36, Size: 4})
	p.label("mix")
	p.add(bpf.ALUOpX{Op: bpf.ALUOpXor}, bpf.ALUOpConstant{Op: bpf.ALUOpMul, Val: 0x9e3779b1}, bpf.ALUOpConstant{Op: bpf.ALUOpShiftRight, Val: 16})
	p.label("spread")
	p.add(bpf.ALUOpConstant{Op: bpf.ALUOpMod, Val: rings})
	p.unless([]uint32{ring}, "drop")
}

// program assembles instructions whose jumps name labels further down.
type program struct {
	list   []bpf.Instruction
	labels map[string]int
	jumps  map[int]string // index of a jump: where to
}

func (p *program) add(list ...bpf.Instruction) { p.list = append(p.list, list...) }

func (p *program) label(name string) {
	if p.labels == nil {
		p.labels = map[string]int{}
	}
	p.labels[name] = len(p.list)
}

// jump goes to a label.
func (p *program) jump(to string) {
	if p.jumps == nil {
		p.jumps = map[int]string{}
	}
	p.jumps[len(p.list)] = to
	p.add(bpf.Jump{})
}

// when goes to a label if the accumulator has a value.
func (p *program) when(v uint32, to string) {
	p.add(bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: v, SkipTrue: 1})
	p.jump(to)
}

// unless goes to a label if the accumulator has none of the values.
func (p *program) unless(values []uint32, to string) {
	for i, v := range values {
		p.add(bpf.JumpIf{Cond: bpf.JumpEqual, Val: v, SkipTrue: uint8(len(values) - i)})
	}
	p.jump(to)
}

func (p *program) assemble() ([]bpf.RawInstruction, error) {
	for at, to := range p.jumps {
		p.list[at] = bpf.Jump{Skip: uint32(p.labels[to] - at - 1)}
	}
	return bpf.Assemble(p.list)
}
