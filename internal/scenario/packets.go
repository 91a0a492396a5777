package scenario

import (
	"math/rand/v2"
	"strings"

	"go.yaml.in/yaml/v3"

	"ibwitness/packet"
)

// packetSets are the kinds of packets that errors are told by.
var packetSets = buildSets()

func buildSets() map[string]func(*packet.Packet) bool {
	sets := map[string]func(*packet.Packet) bool{
		"request":  func(p *packet.Packet) bool { return p.Info().Request },
		"response": func(p *packet.Packet) bool { return p.Info().Response },
		"ack":      syndrome(packet.ACK),
		"rnr_nak":  syndrome(packet.RNRNAK),
		"nak":      syndrome(packet.NAK),
		"atomic":   fns(packet.CmpSwap, packet.FetchAdd),
		"cnp":      func(p *packet.Packet) bool { return p.Opcode == packet.OpCNP },
	}
	for f := range packet.Fn(32) {
		name := packet.Op(packet.RC, f).String()
		if !packet.Op(packet.RC, f).Info().Defined {
			continue
		}
		name = strings.TrimPrefix(strings.ToLower(name), "rc ")
		name = strings.TrimPrefix(strings.ReplaceAll(name, " ", "_"), "rdma_")
		name = strings.Replace(strings.Replace(name, "_with_immediate", "_imm", 1), "_with_invalidate", "_inv", 1)
		if sets[name] == nil {
			sets[name] = fns(f)
		}
		for _, whole := range []string{"send", "write", "read_response"} {
			if strings.HasPrefix(name, whole+"_") {
				sets[whole] = or(sets[whole], fns(f))
			}
		}
	}
	sets["read"] = sets["read_request"]
	sets["atomic_ack"] = sets["atomic_acknowledge"]
	delete(sets, "read_request")
	delete(sets, "atomic_acknowledge")
	delete(sets, "cmpswap")
	delete(sets, "fetchadd")
	sets["cmp_swap"], sets["fetch_add"] = fns(packet.CmpSwap), fns(packet.FetchAdd)
	return sets
}

func or(a, b func(*packet.Packet) bool) func(*packet.Packet) bool {
	if a == nil {
		return b
	}
	return func(p *packet.Packet) bool { return a(p) || b(p) }
}

func fns(list ...packet.Fn) func(*packet.Packet) bool {
	var set uint32
	for _, f := range list {
		set |= 1 << f
	}
	return func(p *packet.Packet) bool { return p.Opcode != packet.OpCNP && set>>p.Opcode.Fn()&1 != 0 }
}

// syndrome is the Acknowledge packets with a type of syndrome.
func syndrome(t packet.SyndromeType) func(*packet.Packet) bool {
	return func(p *packet.Packet) bool { return p.Opcode.Fn() == packet.Acknowledge && p.Syndrome.Type() == t }
}

// change sets a field of a packet.
type change func(*packet.Packet)

// apply is what an error does to a packet whose ICRC is sealed again.
func apply(list []change) func(*packet.Packet, *rand.Rand) {
	return func(p *packet.Packet, _ *rand.Rand) {
		for _, c := range list {
			c(p)
		}
	}
}

// field returns the setter of a field, up to its greatest value.
func field[T unsigned](p *parser, to *[]change, most uint64, at func(*packet.Packet) *T) setter {
	return func(n *yaml.Node) {
		var v T
		number(p, &v, 0, most)(n)
		*to = append(*to, func(x *packet.Packet) { *at(x) = v })
	}
}

// changes takes fields of a packet and what they are to be.
func (p *parser) changes(to *[]change) setter {
	flag := func(at func(*packet.Packet) *bool) setter {
		return func(n *yaml.Node) {
			var v bool
			p.Boolean(&v)(n)
			*to = append(*to, func(x *packet.Packet) { *at(x) = v })
		}
	}
	const bits24, bits32 = 1<<24 - 1, 1<<32 - 1
	set := map[string]setter{
		"opcode":    field(p, to, 255, func(x *packet.Packet) *packet.Opcode { return &x.Opcode }),
		"psn":       field(p, to, bits24, func(x *packet.Packet) *packet.PSN { return &x.PSN }),
		"dest_qp":   field(p, to, bits24, func(x *packet.Packet) *uint32 { return &x.DestQP }),
		"pkey":      field(p, to, 0xffff, func(x *packet.Packet) *uint16 { return &x.PKey }),
		"pad_cnt":   field(p, to, 3, func(x *packet.Packet) *uint8 { return &x.PadCnt }),
		"tver":      field(p, to, 15, func(x *packet.Packet) *uint8 { return &x.TVer }),
		"syndrome":  field(p, to, 255, func(x *packet.Packet) *packet.Syndrome { return &x.Syndrome }),
		"msn":       field(p, to, bits24, func(x *packet.Packet) *uint32 { return &x.MSN }),
		"rkey":      field(p, to, bits32, func(x *packet.Packet) *uint32 { return &x.RKey }),
		"va":        field(p, to, 1<<63, func(x *packet.Packet) *uint64 { return &x.VA }),
		"dma_len":   field(p, to, bits32, func(x *packet.Packet) *uint32 { return &x.DMALen }),
		"imm":       field(p, to, bits32, func(x *packet.Packet) *uint32 { return &x.Imm }),
		"inv_rkey":  field(p, to, bits32, func(x *packet.Packet) *uint32 { return &x.InvRKey }),
		"qkey":      field(p, to, bits32, func(x *packet.Packet) *uint32 { return &x.QKey }),
		"src_qp":    field(p, to, bits24, func(x *packet.Packet) *uint32 { return &x.SrcQP }),
		"orig_data": field(p, to, 1<<63, func(x *packet.Packet) *uint64 { return &x.OrigData }),
		"ack_req":   flag(func(x *packet.Packet) *bool { return &x.AckReq }),
		"se":        flag(func(x *packet.Packet) *bool { return &x.SE }),
		"becn":      flag(func(x *packet.Packet) *bool { return &x.BECN }),
		"fecn":      flag(func(x *packet.Packet) *bool { return &x.FECN }),
		"mig_req":   flag(func(x *packet.Packet) *bool { return &x.MigReq }),
	}
	set["payload"] = func(n *yaml.Node) {
		var at uint64
		number(p, &at, 0, 4095)(n)
		*to = append(*to, func(x *packet.Packet) {
			if at < uint64(len(x.Payload)) {
				x.Payload[at] ^= 0xff
			}
		})
	}
	return func(n *yaml.Node) { p.Fields(n, "set", set) }
}
