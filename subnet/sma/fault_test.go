package sma

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"ibwitness/mad"
)

// probes are, by the name of a fault, what shows it: the text differs from that of a node without it.
var probes = map[string]func(t *testing.T, faults ...string) string{
	"sltovl-silent": func(t *testing.T, f ...string) string {
		return answer(t, node(t, hostConfig(), f...), asked{port: 1, method: mad.Get, attribute: mad.AttrSLtoVL})
	},
	"sltovl-answers":       unsupportedSLtoVL,
	"sltovl-stores":        unsupportedSLtoVL,
	"sltovl-status-zero":   unsupportedSLtoVL,
	"sltovl-wrong-code":    unsupportedSLtoVL,
	"sltovl-invalid-value": unsupportedSLtoVL,
	"sltovl-redirect":      unsupportedSLtoVL,
	"sltovl-busy":          unsupportedSLtoVL,
	"sltovl-keeps-refused": unsupportedSLtoVL,
	"portinfo-changed":     unsupportedSLtoVL,
	"vlcap-many":           unsupportedSLtoVL,
	"operational-vls-many": unsupportedSLtoVL,
	"sltovl-pair-mixed": func(t *testing.T, f ...string) string {
		n := node(t, switchConfig(), f...)
		ask(t, n, asked{port: 1, method: mad.Set, attribute: mad.AttrSLtoVL, modifier: 0x0101, data: []byte{0x11}})
		return answer(t, n, asked{port: 1, method: mad.Get, attribute: mad.AttrSLtoVL, modifier: 0x0201})
	},
	"sltovl-not-stored": stored(mad.AttrSLtoVL, 0),
	"vl-from-sl":        func(t *testing.T, f ...string) string { return fmt.Sprint(node(t, switchConfig(), f...).VL(0, 1, 3)) },
	"mkey-ignored": func(t *testing.T, f ...string) string {
		return keyed(t, 0, 0, asked{port: 1, method: mad.Set, attribute: mad.AttrPKeyTable, key: 6}, f...)
	},
	"mkey-shown": func(t *testing.T, f ...string) string {
		return keyed(t, 1, 0, asked{port: 1, method: mad.Get, attribute: mad.AttrPortInfo, key: 6}, f...)
	},
	"mkey-zero-checked": func(t *testing.T, f ...string) string {
		return answer(t, node(t, hostConfig(), f...), asked{port: 1, method: mad.Set, attribute: mad.AttrPKeyTable, key: 6})
	},
	"protect-bits-ignored": func(t *testing.T, f ...string) string {
		return keyed(t, 2, 0, asked{port: 1, method: mad.Get, attribute: mad.AttrNodeInfo, key: 6}, f...)
	},
	"lease-never-ends":   func(t *testing.T, f ...string) string { return lease(t, 10, 0, 11*second, f...) },
	"lease-early":        func(t *testing.T, f ...string) string { return lease(t, 10, 0, 6*second, f...) },
	"lease-not-stopped":  func(t *testing.T, f ...string) string { return lease(t, 10, 5*second, 11*second, f...) },
	"lease-zero-expires": func(t *testing.T, f ...string) string { return lease(t, 0, 0, 11*second, f...) },
	"illegal-stored": func(t *testing.T, f ...string) string {
		n := node(t, hostConfig(), f...)
		return answer(t, n, asked{port: 1, method: mad.Set, attribute: mad.AttrPortInfo, data: info(n, 1, map[string]uint64{"LID": 0xFFFF})})
	},
	"read-only-written": func(t *testing.T, f ...string) string {
		n := node(t, hostConfig(), f...)
		return answer(t, n, asked{port: 1, method: mad.Set, attribute: mad.AttrPortInfo, data: info(n, 1, map[string]uint64{"MTUCap": 3, "neighborMTU": 1})})
	},
	"set-not-stored": func(t *testing.T, f ...string) string {
		n := node(t, hostConfig(), f...)
		setInfo(t, n, 1, 0, map[string]uint64{"LID": 5, "masterSMLID": 1})
		return fmt.Sprint(n.LID(1))
	},
	"combination-taken": func(t *testing.T, f ...string) string {
		return answer(t, node(t, hostConfig(), f...), asked{port: 1, method: mad.Get, attribute: mad.AttrSwitchInfo})
	},
	"modifier-ignored": func(t *testing.T, f ...string) string {
		return answer(t, node(t, hostConfig(), f...), asked{port: 1, method: mad.Get, attribute: mad.AttrPKeyTable, modifier: 99})
	},
	"answers-answer": func(t *testing.T, f ...string) string {
		return answer(t, node(t, hostConfig(), f...), asked{port: 1, method: mad.GetResp, attribute: mad.AttrNodeInfo})
	},
	"reregister-kept": func(t *testing.T, f ...string) string {
		n := node(t, hostConfig(), f...)
		setInfo(t, n, 1, 0, map[string]uint64{"clientReregister": 1})
		return answer(t, n, asked{port: 1, method: mad.Get, attribute: mad.AttrPortInfo})
	},
	"guid-zero-written": stored(mad.AttrGUIDInfo, 0),
	"pkey-bad-status":   stored(mad.AttrPKeyTable, 0),
	"pkey-block-ignored": func(t *testing.T, f ...string) string {
		return answer(t, node(t, hostConfig(), f...), asked{port: 1, method: mad.Get, attribute: mad.AttrPKeyTable, modifier: 7})
	},
	"vlarb-not-stored": stored(mad.AttrVLArbitration, 1<<16|1),
	"lft-not-stored":   stored(mad.AttrLinearForwarding, 0),
	"node-info-differs": func(t *testing.T, f ...string) string {
		return answer(t, node(t, hostConfig(), f...), asked{port: 1, method: mad.Get, attribute: mad.AttrNodeInfo})
	},
	"state-change-lost": func(t *testing.T, f ...string) string {
		sw, _ := pair(t, f...)
		return fmt.Sprint(sw.PortStateChange())
	},
	"trap-goes-on": func(t *testing.T, f ...string) string {
		sw, _ := configured(t, f...)
		sw.Cut(0, 1)
		sw.Trap(0)
		repress(t, sw, 1)
		b, _ := sw.Trap(9 * second)
		return fmt.Sprint(b != nil)
	},
	"trap-too-fast": func(t *testing.T, f ...string) string {
		sw, _ := configured(t, f...)
		sw.Cut(0, 1)
		sw.Trap(0)
		b, _ := sw.Trap(second / 2)
		return fmt.Sprint(b != nil)
	},
	"dr-return-wrong": func(t *testing.T, f ...string) string { return relayed(t, 1, 1, f...) },
	"hops-unchecked":  func(t *testing.T, f ...string) string { return relayed(t, 9, 1, f...) },
	"class-port-info-missing": func(t *testing.T, f ...string) string {
		return counted(t, mad.AttrClassPortInfo, 1, f...)
	},
	"counter-wraps":          func(t *testing.T, f ...string) string { return counted(t, mad.AttrPortCounters, 1, f...) },
	"counter-select-ignored": func(t *testing.T, f ...string) string { return counted(t, mad.AttrPortCounters, 2, f...) },
	"port-select-ignored":    func(t *testing.T, f ...string) string { return counted(t, mad.AttrPortCounters, 9, f...) },
	"node-description-set":   stored(mad.AttrNodeDescription, 0),
	"is-sm-set": func(t *testing.T, f ...string) string {
		return fmt.Sprint(piCapability.Uint(node(t, hostConfig(), f...).PortInfo(1)))
	},
	"mkey-hidden": func(t *testing.T, f ...string) string {
		return keyed(t, 0, 0, asked{port: 1, method: mad.Get, attribute: mad.AttrPortInfo, key: 6}, f...)
	},
	"mkey-not-counted": func(t *testing.T, f ...string) string { return fmt.Sprint(violations(t, 1, f...)) },
	"violations-wrap":  func(t *testing.T, f ...string) string { return fmt.Sprint(violations(t, 0x10000, f...)) },
	"mkey-split": func(t *testing.T, f ...string) string {
		n := node(t, hostConfig(), f...)
		setInfo(t, n, 1, 0, map[string]uint64{"MKey": 5, "MKeyProtectBits": 3})
		return fmt.Sprint(piProtect.Uint(n.PortInfo(1)))
	},
	"repress-answered": func(t *testing.T, f ...string) string {
		return answer(t, node(t, hostConfig(), f...), asked{port: 1, method: mad.TrapRepress, attribute: mad.AttrNotice})
	},
	"guid-not-stored": func(t *testing.T, f ...string) string {
		return answer(t, node(t, hostConfig(), f...), asked{port: 1, method: mad.Set, attribute: mad.AttrGUIDInfo, data: bytes.Repeat([]byte{3}, 64)})
	},
	"pkey-not-stored": stored(mad.AttrPKeyTable, 0),
	"rft-not-stored": func(t *testing.T, f ...string) string {
		return answer(t, node(t, randomConfig(), f...), asked{port: 1, method: mad.Set, attribute: mad.AttrRandomForwarding, data: []byte{0, 7, 0x80, 3}})
	},
	"mft-not-stored": stored(mad.AttrMulticastForwarding, 0),
	"led-not-stored": func(t *testing.T, f ...string) string {
		return answer(t, node(t, hostConfig(), f...), asked{port: 1, method: mad.Set, attribute: mad.AttrLedInfo, data: []byte{0x80}})
	},
	"vendor-diag-loop": func(t *testing.T, f ...string) string {
		return answer(t, node(t, hostConfig(), f...), asked{port: 1, method: mad.Get, attribute: mad.AttrVendorDiag})
	},
	"lft-port-unchecked": func(t *testing.T, f ...string) string {
		n := node(t, switchConfig(), f...)
		n.sw.linear[7] = 9
		siLinearTop.PutUint(n.sw.info[:], 7)
		return fmt.Sprint(n.Unicast(2, false, 7))
	},
	"dr-return-rewritten": responded,
	"dr-initial-cleared":  responded,
	"reregister-lost": func(t *testing.T, f ...string) string {
		data, _, _ := setInfo(t, node(t, hostConfig(), f...), 1, 0, map[string]uint64{"clientReregister": 1})
		return fmt.Sprint(piReregister.Uint(data))
	},
	"state-change-any-set": func(t *testing.T, f ...string) string {
		sw, _ := pair(t, f...)
		ask(t, sw, asked{port: 1, method: mad.Set, attribute: mad.AttrSwitchInfo})
		return fmt.Sprint(sw.PortStateChange())
	},
	"sltovl-all-ignored": func(t *testing.T, f ...string) string {
		c := switchConfig()
		c.Optimized = true
		n := node(t, c, f...)
		ask(t, n, asked{port: 1, method: mad.Set, attribute: mad.AttrSLtoVL, modifier: 0x30101, data: []byte{0x11}})
		return answer(t, n, asked{port: 1, method: mad.Get, attribute: mad.AttrSLtoVL, modifier: 0x0202})
	},
	"dr-out-wrong": func(t *testing.T, f ...string) string { return relayed(t, 1, 2, f...) },
	"dr-end-delivered": func(t *testing.T, f ...string) string {
		return fmt.Sprint(node(t, switchConfig(), f...).end(7))
	},
	"dr-back-wrong": func(t *testing.T, f ...string) string {
		s := mad.SMP{
			Header: mad.Header{BaseVersion: 1, Class: mad.ClassSubnetDirected, ClassVersion: 1, Method: mad.GetResp, Status: direction}, Initial: make([]byte, 3), Return: []byte{0, 4, 5},
		}
		s.SetHops(2, 2)
		b := make([]byte, mad.Size)
		if err := s.Encode(b); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(node(t, switchConfig(), f...).Relay(5, false, b))
	},
	"trap-mkey": func(t *testing.T, f ...string) string {
		sw, _ := configured(t, f...)
		setInfo(t, sw, 0, 0, map[string]uint64{"MKey": 5})
		sw.Cut(0, 1)
		b, _ := sw.Trap(0)
		return fmt.Sprintf("% x", b[24:32])
	},
	"get-refused": func(t *testing.T, f ...string) string {
		return answer(t, node(t, hostConfig(), f...), asked{port: 1, method: mad.Get, attribute: mad.AttrGUIDInfo})
	},
	"set-refused":         stored(mad.AttrGUIDInfo, 0),
	"read-only-changes":   sets,
	"other-component-set": sets,
	"violations-kept": func(t *testing.T, f ...string) string {
		n := node(t, hostConfig(), f...)
		setInfo(t, n, 1, 0, map[string]uint64{"MKey": 5})
		ask(t, n, asked{port: 1, method: mad.Set, attribute: mad.AttrPKeyTable, key: 6})
		setInfo(t, n, 1, 5, map[string]uint64{"MKeyViolations": 0})
		return fmt.Sprint(piMKeyBad.Uint(n.PortInfo(1)))
	},
	"local-port-fixed": atSecond,
	"port-guid-shared": atSecond,
	"versions-wrong":   atSecond,
	"own-number-other": func(t *testing.T, f ...string) string {
		n := node(t, hostConfig(), f...)
		setInfo(t, n, 1, 0, map[string]uint64{"LID": 5, "masterSMLID": 1})
		return answer(t, n, asked{port: 1, method: mad.Get, attribute: mad.AttrPortInfo, modifier: 1})
	},
	"both-tables": func(t *testing.T, f ...string) string {
		return answer(t, node(t, switchConfig(), f...), asked{port: 1, method: mad.Get, attribute: mad.AttrSwitchInfo})
	},
	"is-sm-disabled": managed,
	"mkey-never-shown": func(t *testing.T, f ...string) string {
		return keyed(t, 0, 0, asked{port: 1, method: mad.Get, attribute: mad.AttrPortInfo, key: 5}, f...)
	},
	"mkey-overcounted": func(t *testing.T, f ...string) string {
		return keyed(t, 0, 0, asked{port: 1, method: mad.Get, attribute: mad.AttrPortInfo, key: 6}, f...)
	},
	"slow-answer":       delayed,
	"slow-first-answer": delayed,
	"version-ignored": func(t *testing.T, f ...string) string {
		b := make([]byte, mad.Size)
		b[0], b[1], b[2], b[3], b[17] = 1, 1, 2, 1, byte(mad.AttrNodeInfo)
		return fmt.Sprintf("% x", node(t, hostConfig(), f...).Receive(0, 1, b))
	},
	"method-ignored": unknownMethod,
	"method-silent":  unknownMethod,
	"refusal-changed": func(t *testing.T, f ...string) string {
		return answer(t, node(t, hostConfig(), f...), asked{port: 1, method: mad.Set, attribute: mad.AttrNodeInfo})
	},
	"tid-shared":      atOnce,
	"modifier-mixed":  atOnce,
	"attribute-mixed": atOnce,
	"smp-length-unchecked": func(t *testing.T, f ...string) string {
		return fmt.Sprint(node(t, hostConfig(), f...).Takes(1, &Arrival{MAD: make([]byte, mad.Size-4), VL: managementVL}))
	},
	"smp-unchecked": func(t *testing.T, f ...string) string {
		return fmt.Sprint(node(t, hostConfig(), f...).Takes(1, &Arrival{MAD: make([]byte, mad.Size)}))
	},
	"class-port-info-versions": func(t *testing.T, f ...string) string { return counted(t, mad.AttrClassPortInfo, 1, f...) },
	"counter-off":              tallied,
	"packets-uncounted":        tallied,
	"counter-wrong":            tallied,
	"extended-narrow":          tallied,
	"sum-wrong":                func(t *testing.T, f ...string) string { return counted(t, mad.AttrPortCounters, 255, f...) },
	"counter-not-stored":       cleared,
	"counter-kept":             cleared,
	"gmp-unchecked": func(t *testing.T, f ...string) string {
		return fmt.Sprint(node(t, hostConfig(), f...).Takes(1, &Arrival{MAD: make([]byte, mad.Size), SrcQP: 1, DestQP: 1, PKey: 0xFFFF}))
	},
	"gmp-length-unchecked": func(t *testing.T, f ...string) string {
		return fmt.Sprint(node(t, hostConfig(), f...).Takes(1, &Arrival{MAD: make([]byte, 252), SrcQP: 1, DestQP: 1, PKey: 0xFFFF, QKey: gsiQKey}))
	},
	"class-taken": func(t *testing.T, f ...string) string {
		b := make([]byte, mad.Size)
		b[0], b[1], b[2], b[3], b[17] = 1, 0x50, 1, 1, 1
		return fmt.Sprintf("% x", node(t, hostConfig(), f...).Receive(0, 1, b))
	},
	"trap-lost":         trapped,
	"trap-issuer-wrong": trapped,
	"trap-same-tid":     trapped,
	"dr-lids-changed":   responded,
	"dr-count-changed":  responded,
	"dr-pointer-kept":   responded,
	"dr-direction-lost": responded,
	"is-sm-lost":        managed,
	"sm-guid-wrong":     managed,
	"trap-new-tid": func(t *testing.T, f ...string) string {
		sw, _ := configured(t, f...)
		sw.Cut(0, 1)
		a, _ := sw.Trap(0)
		b, _ := sw.Trap(9 * second)
		return fmt.Sprint(bytes.Equal(a, b))
	},
	"tid-mixed": func(t *testing.T, f ...string) string {
		n := node(t, hostConfig(), f...)
		b := make([]byte, mad.Size)
		b[0], b[1], b[2], b[3], b[17] = 1, 1, 1, 1, 0x11
		return fmt.Sprintf("% x", n.Receive(0, 1, b)[8:16])
	},
}

func answer(t *testing.T, n *Node, a asked) string {
	t.Helper()
	data, status, ok := ask(t, n, a)
	return fmt.Sprintf("%v %v % x", ok, status, data)
}

// unsupportedSLtoVL is what a host without SLtoVLMappingTable answers to a Get, a Set and a Get of it, and its PortInfo after that.
func unsupportedSLtoVL(t *testing.T, f ...string) string {
	c := hostConfig()
	c.NoSLtoVL = true
	n := node(t, c, f...)
	var list []string
	for _, a := range []asked{
		{port: 1, method: mad.Get, attribute: mad.AttrSLtoVL, modifier: 1},
		{port: 1, method: mad.Set, attribute: mad.AttrSLtoVL, modifier: 1, data: []byte{0x12}},
		{port: 1, method: mad.Get, attribute: mad.AttrSLtoVL, modifier: 1},
		{port: 1, method: mad.Get, attribute: mad.AttrPortInfo},
	} {
		list = append(list, answer(t, n, a))
	}
	return strings.Join(list, "; ")
}

func stored(a mad.Attribute, modifier uint32) func(*testing.T, ...string) string {
	return func(t *testing.T, f ...string) string {
		c := switchConfig()
		if a == mad.AttrSLtoVL {
			c = hostConfig()
		}
		return answer(t, node(t, c, f...), asked{port: 1, method: mad.Set, attribute: a, modifier: modifier, data: bytes.Repeat([]byte{3}, 64)})
	}
}

// keyed asks a host whose M_Key is 5.
func keyed(t *testing.T, protect, period uint64, a asked, f ...string) string {
	n := node(t, hostConfig(), f...)
	setInfo(t, n, 1, 0, map[string]uint64{"MKey": 5, "MKeyProtectBits": protect, "MKeyLeasePeriod": period})
	return answer(t, n, a)
}

// violations is how many a host counts after so many requests with a wrong M_Key.
func violations(t *testing.T, wrong int, f ...string) uint64 {
	n := node(t, hostConfig(), f...)
	setInfo(t, n, 1, 0, map[string]uint64{"MKey": 5})
	for range wrong {
		ask(t, n, asked{port: 1, method: mad.Set, attribute: mad.AttrPKeyTable, key: 6})
	}
	return piMKeyBad.Uint(n.PortInfo(1))
}

// managed is CapabilityMask and SMInfo of a host at which a subnet manager runs.
func managed(t *testing.T, f ...string) string {
	n := node(t, hostConfig(), f...)
	n.SetSM(0, &SM{GUID: 7, State: 3})
	return fmt.Sprint(piCapability.Uint(n.PortInfo(1)), answer(t, n, asked{port: 1, method: mad.Get, attribute: mad.AttrSMInfo}))
}

// sets is SwitchInfo and PortInfo of a switch after Sets that leave all as it is.
func sets(t *testing.T, f ...string) string {
	n := node(t, switchConfig(), f...)
	data, _, _ := ask(t, n, asked{port: 1, method: mad.Set, attribute: mad.AttrSwitchInfo, data: get(t, n, 1, mad.AttrSwitchInfo, 0)})
	info, _, _ := setInfo(t, n, 1, 0, nil)
	return fmt.Sprint(data, info)
}

// atSecond is NodeInfo at the second port of a host.
func atSecond(t *testing.T, f ...string) string {
	return answer(t, node(t, hostConfig(), f...), asked{port: 2, method: mad.Get, attribute: mad.AttrNodeInfo})
}

// trapped is two traps of a switch.
func trapped(t *testing.T, f ...string) (s string) {
	sw, _ := configured(t, f...)
	sw.Cut(0, 1)
	for now := range int64(2) {
		b, _ := sw.Trap(20 * now * second)
		s += fmt.Sprintf("% x\n", b)
		repress(t, sw, uint64(now)+1)
		setInfo(t, sw, 0, 0, map[string]uint64{"MKey": 5})
		ask(t, sw, asked{port: 1, method: mad.Set, attribute: mad.AttrGUIDInfo, key: 6, now: 2 * second})
	}
	return s
}

// responded is the response to a directed route of one hop as it leaves a switch, and its port.
func responded(t *testing.T, f ...string) string {
	s := mad.SMP{
		Header: mad.Header{BaseVersion: 1, Class: mad.ClassSubnetDirected, ClassVersion: 1, Method: mad.GetResp, Status: direction},
		DrSLID: mad.PermissiveLID, DrDLID: mad.PermissiveLID, Initial: []byte{0, 1}, Return: []byte{0, 4},
	}
	s.SetHops(2, 1)
	b := make([]byte, mad.Size)
	if err := s.Encode(b); err != nil {
		t.Fatal(err)
	}
	route, out := node(t, switchConfig(), f...).Relay(4, true, b)
	if route != Forward || out != 4 {
		t.Errorf("%v by port %d", route, out)
	}
	return fmt.Sprint(b[4], b[6:8], b[32:36], b[129], b[193])
}

// lease is the protect bits at a time after a wrong key, and after a right one where one comes.
func lease(t *testing.T, period uint64, right, at int64, f ...string) string {
	n := node(t, hostConfig(), f...)
	setInfo(t, n, 1, 0, map[string]uint64{"MKey": 5, "MKeyProtectBits": 2, "MKeyLeasePeriod": period})
	ask(t, n, asked{port: 1, method: mad.Get, attribute: mad.AttrNodeInfo, key: 6})
	if right != 0 {
		ask(t, n, asked{port: 1, method: mad.Get, attribute: mad.AttrNodeInfo, key: 5, now: right})
	}
	n.expire(at)
	return fmt.Sprint(piProtect.Uint(n.PortInfo(1)))
}

func relayed(t *testing.T, pointer, count int, f ...string) string {
	s := mad.SMP{
		Header: mad.Header{BaseVersion: 1, Class: mad.ClassSubnetDirected, ClassVersion: 1, Method: mad.Get}, DrSLID: mad.PermissiveLID, DrDLID: mad.PermissiveLID, Initial: []byte{0, 4, 5},
	}
	s.SetHops(pointer, count)
	b := make([]byte, mad.Size)
	if err := s.Encode(b); err != nil {
		t.Fatal(err)
	}
	route, out := node(t, switchConfig(), f...).Relay(4, false, b)
	return fmt.Sprint(route, out, b[193])
}

// counted sets one counter of a port after others have reached their ends.
func counted(t *testing.T, a mad.Attribute, port uint8, f ...string) string {
	n := node(t, switchConfig(), f...)
	n.Count(1, LinkDowned, 256)
	n.Count(2, LinkDowned, 7)
	h := mad.Header{BaseVersion: 1, Class: mad.ClassPerformance, ClassVersion: 1, Method: mad.Set, Attribute: a}
	if a == mad.AttrClassPortInfo {
		h.Method = mad.Get
	}
	b := make([]byte, mad.Size)
	if err := h.Encode(b); err != nil {
		t.Fatal(err)
	}
	b[65], b[67] = port, 1
	return fmt.Sprintf("% x", n.Receive(0, 1, b))
}

// tallied is what a port has counted.
func tallied(t *testing.T, f ...string) string {
	n := node(t, switchConfig(), f...)
	n.Count(1, XmitData, 1<<33)
	n.Count(1, XmitPkts, 1)
	n.Count(1, RcvErrors, 1)
	return fmt.Sprint(n.ports[1].counters)
}

// cleared is a counter after it was set to 0.
func cleared(t *testing.T, f ...string) string {
	n := node(t, switchConfig(), f...)
	n.Count(1, SymbolErrors, 3)
	b := make([]byte, mad.Size)
	b[0], b[1], b[2], b[3], b[17], b[65], b[67] = 1, byte(mad.ClassPerformance), 1, byte(mad.Set), byte(mad.AttrPortCounters), 1, 1
	return fmt.Sprintf("% x", n.Receive(0, 1, b))
}

// delayed is how long a node takes for an answer.
func delayed(t *testing.T, f ...string) string {
	return fmt.Sprint(node(t, hostConfig(), f...).Delay(1))
}

// unknownMethod is the answer to a method that subnet management does not have.
func unknownMethod(t *testing.T, f ...string) string {
	return answer(t, node(t, hostConfig(), f...), asked{port: 1, method: 0x10, attribute: mad.AttrNodeInfo})
}

// atOnce is the answer to the second of two requests that come at the same time.
func atOnce(t *testing.T, f ...string) string {
	n, b := node(t, hostConfig(), f...), make([]byte, mad.Size)
	b[0], b[1], b[2], b[3], b[17] = 1, 1, 1, 1, byte(mad.AttrNodeInfo)
	n.Receive(1, 1, b)
	b[15], b[17], b[23] = 7, byte(mad.AttrPortInfo), 1
	return fmt.Sprintf("% x", n.Receive(1, 1, b))
}

// TestFaults: every fault shows, and only by its name.
func TestFaults(t *testing.T) {
	seen := map[fault]string{}
	for _, f := range Faults() {
		probe := probes[f.Name]
		if probe == nil {
			t.Errorf("nothing probes %s", f.Name)
			continue
		}
		if clean, faulty := probe(t), probe(t, f.Name); clean == faulty {
			t.Errorf("%s does not show: %s", f.Name, clean)
		}
		if o := seen[f.fault]; o != "" || f.Text == "" {
			t.Errorf("%s and %s are the same", f.Name, o)
		}
		seen[f.fault] = f.Name
	}
	if len(seen) != int(numFaults) {
		t.Errorf("%d faults of %d are in the table", len(seen), numFaults)
	}
}

// FuzzReceive: no MAD makes a node panic, answers are 256 bytes and keep the transaction ID, and what is relayed leaves by a port that is there.
func FuzzReceive(f *testing.F) {
	for a := range 0x32 {
		for _, class := range []mad.Class{mad.ClassSubnetLID, mad.ClassSubnetDirected, mad.ClassPerformance} {
			for _, m := range []mad.Method{mad.Get, mad.Set} {
				b := make([]byte, mad.Size)
				h := mad.Header{BaseVersion: 1, Class: class, ClassVersion: 1, Method: m, Attribute: mad.Attribute(a), Modifier: uint32(a) << 14}
				_ = h.Encode(b)
				f.Add(b, uint8(1), uint64(0))
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, port uint8, faults uint64) {
		c := switchConfig()
		c.Optimized, c.LinearCap, c.MulticastCap = faults&1 != 0, 100, 40
		for _, c := range []Config{c, hostConfig()} {
			n, err := New(c)
			if err != nil {
				t.Fatal(err)
			}
			for i := range n.faults {
				n.faults[i] = faults>>(i%64)&1 != 0 && fault(i) != tidMixed
			}
			for range 2 {
				out := n.Receive(1, port, b)
				if out != nil && (len(out) != mad.Size || !bytes.Equal(out[8:16], b[8:16])) {
					t.Errorf("% x", out)
				}
				if out != nil {
					n.Relay(port, true, out)
				}
				n.Trap(1)
				n.Training()
			}
			if route, out := n.Relay(port, port == 0, append([]byte(nil), b...)); route == Forward && n.at(int(out)) == nil {
				t.Errorf("relayed out of port %d", out)
			}
		}
	})
}
