package smp

import (
	"time"

	"ibwitness/mad"
	"ibwitness/subnet"
)

// asBlock returns what is kept of the block that an exchange is about, beginning it; nil where it is not known whose it is.
func (v *Verifier) asBlock(x *exchange) *table {
	if !x.at.known() {
		return nil
	}
	k := tableKey{x.at.node, 0, x.Attribute, x.Modifier}
	if x.at.node.Type != subnet.Switch {
		k.number = x.at.number
	}
	if x.Attribute == mad.AttrPortInfo {
		if p := v.infoPort(x); p != nil {
			k.number, k.modifier = p.Number, 0
		}
	}
	t := v.tables[k]
	if t == nil {
		if len(v.tables) >= most {
			clear(v.tables)
		}
		t = &table{}
		v.tables[k] = t
	}
	return t
}

// varies is what of a port is not known while a Set of an attribute is in flight, and whether it is one that others look up.
func varies(a mad.Attribute) (subnet.Known, bool) {
	switch a {
	case mad.AttrPKeyTable:
		return subnet.KnowsPKeys, true
	case mad.AttrGUIDInfo:
		return subnet.KnowsGUIDs, true
	case mad.AttrSLtoVL:
		return subnet.KnowsSLtoVL, true
	case mad.AttrPortInfo:
		return subnet.KnowsInfo | subnet.KnowsMTU | subnet.KnowsVLs, true
	case mad.AttrVLArbitration, mad.AttrLinearForwarding, mad.AttrRandomForwarding, mad.AttrMulticastForwarding:
		return 0, true
	}
	return 0, false
}

// changes notes that a Set is in flight, or is retransmitted: what it may change is not known until the response. Where it is not known whose it
// is, it may be anybody's.
func (v *Verifier) changes(x *exchange) {
	lost, ok := varies(x.Attribute)
	if x.Method != mad.Set || !ok || x.wrongMKey && x.answers == 0 { // one with a wrong M_Key changes nothing, unless it is answered
		return
	}
	t := v.asBlock(x)
	v.widely(x)
	switch {
	case t == nil:
		v.changesAny(x.Attribute, lost)
		return
	case t.newest != x.serial && x.asked > 1:
		t.newest = 0 // an older one is retransmitted: which of them holds is not known
	case t.newest == x.serial && t.set:
		return // it is done
	default:
		t.newest = x.serial
	}
	t.changed, t.set = v.p.Time, false
	v.loses(x, lost)
}

// widely notes a Set that is, or may be, of many SLtoVLMappingTables of a switch: bits 16 and 17 of its modifier mean all input and all output ports.
func (v *Verifier) widely(x *exchange) {
	if x.wide() && x.at.known() {
		v.wide[x.at.node] = v.p.Time + underway
	}
}

// wide reports whether an exchange is about several SLtoVLMappingTables.
func (x *exchange) wide() bool { return x.Attribute == mad.AttrSLtoVL && x.Modifier>>16 != 0 }

// loses forgets what a Set may change.
func (v *Verifier) loses(x *exchange, lost subnet.Known) {
	p := x.at.port()
	switch {
	case x.Attribute == mad.AttrLinearForwarding:
		x.at.node.ForgetLinear(int(x.Modifier & 0xFFFF))
		return
	case x.Attribute == mad.AttrPortInfo:
		p = v.infoPort(x)
		if p != nil && x.at.endport(x.Modifier) && piMKey.Uint(x.data[:]) != v.of(p).key {
			v.of(p).keyKnown = false
		}
	case x.at.node.Type == subnet.Switch && (x.Attribute == mad.AttrSLtoVL || x.Modifier>>16 != 0):
		return
	}
	if p == nil {
		return
	}
	p.Has &^= lost
	switch k := v.of(p); x.Attribute {
	case mad.AttrPortInfo:
		p.State = 0
	case mad.AttrPKeyTable:
		delete(k.blocks, uint16(x.Modifier))
	case mad.AttrGUIDInfo:
		delete(k.guids, uint8(x.Modifier))
	}
}

// changesAny is changes for a node that is not known.
func (v *Verifier) changesAny(a mad.Attribute, lost subnet.Known) {
	v.unplaced[a] = v.p.Time
	if v.nobody[a] {
		return
	}
	v.nobody[a] = true
	for _, n := range v.Subnet.Nodes {
		if a == mad.AttrLinearForwarding {
			n.ForgetAllLinear()
			continue
		}
		for _, p := range n.Ports {
			p.Has &^= lost
			if a == mad.AttrPortInfo {
				p.State = 0
			}
			switch k := v.ports[p]; {
			case k == nil:
			case a == mad.AttrPKeyTable:
				clear(k.blocks)
			case a == mad.AttrGUIDInfo:
				clear(k.guids)
			}
		}
	}
}

// underway is how long after a Set whose answer was not seen it may still be on its way.
const underway = int64(time.Second)

// fresh reports whether a response has the value that holds now: no Set followed its request. A Set that holds from now on is noted.
func (v *Verifier) fresh(x *exchange) bool {
	if _, ok := varies(x.Attribute); !ok {
		return true
	}
	t := v.asBlock(x)
	if t == nil {
		return false
	}
	v.nobody[x.Attribute] = false
	if x.Method == mad.Set {
		if t.newest != x.serial {
			return false
		}
		t.changed, t.set = v.p.Time, true
		v.widely(x)
		return true
	}
	open := int64(0)
	if t.newest != 0 && !t.set {
		open = underway
	}
	return x.time > max(t.changed+open, v.unplaced[x.Attribute]+underway)
}
