package sma

import (
	"bytes"
	"fmt"
	"testing"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/subnet"
)

// twice is the answers to a request that is sent twice, each after a Set where that is one.
func twice(c Config, set *asked, get asked) func(t *testing.T, f ...string) string {
	return func(t *testing.T, f ...string) string {
		n, text := node(t, c, f...), ""
		for range 2 {
			if set != nil {
				text += answer(t, n, *set)
			}
			text += answer(t, n, get)
		}
		return text
	}
}

// replied is the SLID and the service level of an answer.
func replied(t *testing.T, f ...string) string {
	return fmt.Sprint(node(t, hostConfig(), f...).Reply(1, mad.PermissiveLID, 0))
}

// beyondRoute is what becomes of an answer on a directed route that is beyond its end.
func beyondRoute(t *testing.T, f ...string) string {
	s := mad.SMP{Header: mad.Header{BaseVersion: 1, Class: mad.ClassSubnetDirected, ClassVersion: 1, Method: mad.GetResp, Status: direction}, Return: []byte{0, 4}}
	s.SetHops(3, 1)
	b := make([]byte, mad.Size)
	if err := s.Encode(b); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(node(t, switchConfig(), f...).Relay(4, false, b))
}

// afterBad is whether a port takes a packet after one with a wrong VCRC.
func afterBad(t *testing.T, f ...string) string {
	n := node(t, hostConfig(), f...)
	p := packet.Packet{Encap: packet.Native, Opcode: packet.Op(packet.UD, packet.SendOnly), VL: managementVL, Src: packet.LIDAddr(mad.PermissiveLID), Dst: packet.LIDAddr(mad.PermissiveLID), Payload: make([]byte, mad.Size)}
	p.Complete()
	good := p.Append(nil)
	p.VCRC ^= 1
	return fmt.Sprint(n.Admits(1, p.Append(nil), EndGood), n.Admits(1, good, EndGood))
}

// arrived is whether a host whose port has the P_Keys 0xFFFF and 0x8005 takes a packet.
func arrived(a *Arrival) func(t *testing.T, f ...string) string {
	return func(t *testing.T, f ...string) string {
		n := node(t, hostConfig(), f...)
		n.ports[1].pkeys[1] = 0x8005
		return fmt.Sprint(n.Takes(1, a))
	}
}

// routed is what a router makes of a packet that comes in at its port 1.
func routed(change func(p *packet.Packet)) func(t *testing.T, f ...string) string {
	return func(t *testing.T, f ...string) string {
		c := hostConfig()
		c.Type, c.Ways = subnet.Router, []Way{{Prefix: 0xFEC0 << 48, Port: 2, LID: 9}}
		n := node(t, c, f...)
		n.ports[2].put(piState, Active)
		p := packet.Packet{
			Encap: packet.Native, Opcode: packet.Op(packet.UD, packet.SendOnly), Has: packet.HasGRH, HopLmt: 3, Src: packet.LIDAddr(5), Dst: packet.LIDAddr(6),
			DGID: packet.Addr{Hi: 0xFEC0 << 48, Lo: 1}, Payload: make([]byte, 8), DestQP: 7, SrcQP: 8,
		}
		if change != nil {
			change(&p)
		}
		p.Complete()
		out, ok := n.Routed(1, p.Append(nil))
		return fmt.Sprintf("%v %d % x", ok, out.Port, out.Data)
	}
}

func init() {
	info := asked{port: 1, method: mad.Get, attribute: mad.AttrPortInfo}
	level := mad.LayoutPortInfo.Field("masterSMSL")
	leveled := bytes.Clone(make([]byte, mad.SMPDataSize))
	level.PutUint(leveled, 3)
	linear := asked{port: 1, method: mad.Get, attribute: mad.AttrLinearForwarding}
	for name, probe := range map[string]func(t *testing.T, f ...string) string{
		"receiver-stuck":            afterBad,
		"dr-own-slid":               replied,
		"smp-other-sl":              replied,
		"dr-beyond-relayed":         beyondRoute,
		"answers-once":              twice(hostConfig(), nil, asked{port: 1, method: mad.Get, attribute: mad.AttrNodeInfo}),
		"portinfo-once-refused":     twice(hostConfig(), &asked{port: 1, method: mad.Set, attribute: mad.AttrPortInfo}, info),
		"sm-sl-refused":             twice(hostConfig(), &asked{port: 1, method: mad.Set, attribute: mad.AttrPortInfo, data: leveled}, info),
		"portinfo-external-refused": twice(switchConfig(), nil, asked{port: 1, method: mad.Get, attribute: mad.AttrPortInfo, modifier: 2}),
		"vlcap-reserved":            twice(hostConfig(), nil, info),
		"lft-unreadable":            twice(switchConfig(), &asked{port: 1, method: mad.Set, attribute: mad.AttrLinearForwarding, data: make([]byte, 64)}, linear),
		"lft-port-refused":          twice(switchConfig(), &asked{port: 1, method: mad.Set, attribute: mad.AttrLinearForwarding, data: bytes.Repeat([]byte{99}, 64)}, linear),
		"class-refused-7": func(t *testing.T, f ...string) string {
			b := make([]byte, mad.Size)
			b[0], b[1], b[2], b[3], b[17] = 1, byte(mad.ClassDevice), 1, byte(mad.Get), byte(mad.AttrClassPortInfo)
			return fmt.Sprintf("% x", node(t, hostConfig(), f...).Receive(0, 1, b)[:8])
		},
		"qp1-one-pkey":      arrived(&Arrival{MAD: make([]byte, mad.Size), SrcQP: 1, DestQP: 1, QKey: gsiQKey, PKey: 0x8005}),
		"qp0-pkey-checked":  arrived(&Arrival{MAD: make([]byte, mad.Size), VL: managementVL, PKey: 0x8777}),
		"hop-limit-kept":    routed(nil),
		"slid-kept":         routed(nil),
		"hop-limit-ignored": routed(func(p *packet.Packet) { p.HopLmt = 1 }),
		"local-routed":      routed(func(p *packet.Packet) { p.DGID.Hi = 0xFE80 << 48 }),
		"smp-routed":        routed(func(p *packet.Packet) { p.VL = managementVL }),
		"violations-halved": func(t *testing.T, f ...string) string { return fmt.Sprint(violations(t, 4, f...)) },
	} {
		probes[name] = probe
	}
}
