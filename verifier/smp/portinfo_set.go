package smp

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/rule"
	"ibwitness/subnet"
)

// portSet judges the response to a Set of PortInfo, component by component: LIDs, ClientReregister, PortState, PortPhysicalState, link, and the others that take
// the value that is set.
func (v *Verifier) portSet(x *exchange) {
	d, want := v.s.Data, x.data[:]
	taken := !v.lidsRefused(x)
	if v.breaks(rule.SMPPI008, piReregister.Uint(d) != piReregister.Uint(want)) {
		v.report(rule.SMPPI008, v.paired(), rule.Responder, fmt.Sprintf("ClientReregister %d as in the Set", piReregister.Uint(want)), fmt.Sprintf("%d", piReregister.Uint(d)), x.frame)
	}
	v.stateSet(x)
	v.physicalSet(x)
	v.linkSet(x)
	if taken && !x.wrongMKey && x.at.endport(x.Modifier) {
		v.valuesSet(x)
	}
}

// lidsRefused judges the LIDs of the response to a Set of PortInfo (rule SMP-PI-002), and reports whether the Set should have been refused for them.
func (v *Verifier) lidsRefused(x *exchange) bool {
	if !x.at.endport(x.Modifier) {
		return false
	}
	text, bad := lidsText(v.s.Data)
	if !bad && !x.wrongMKey {
		if text, bad = lidsText(x.data[:]); bad {
			text = "status 0 to a Set of " + text
		}
	}
	if v.breaks(rule.SMPPI002, bad) {
		x.badLIDs = true
		v.report(rule.SMPPI002, v.paired(), rule.Responder, "unicast LIDs of port and manager, the port's a multiple of 2^LMC, or "+invalidValue, text, x.frame)
	}
	return bad
}

// stateSet judges the PortState that a Set asked for and the node took, by the one that the port was in (rule SMP-PI-006).
func (v *Verifier) stateSet(x *exchange) {
	was, to := x.stateBefore, uint8(piState.Uint(x.data[:]))
	bad := to == initSt || to > active || to == armed && (was == down || was == active) || to == active && (was == down || was == initSt)
	class := v.paired()
	switch {
	case to != armed && to != active:
	case was == initSt:
		class = v.lasting() // the state may have been changed by what the capture does not show
	default:
		class = rule.Unproven // the link may have come up since, or gone down and come up
	}
	if v.breaks(rule.SMPPI006, bad) {
		v.report(rule.SMPPI006, class, rule.Responder, invalidValue+": Armed follows Initialize, Active follows Armed, and Initialize is not set",
			fmt.Sprintf("status 0 to a Set of %s, from %s", stateText(to), stateText(was)), x.frame)
	}
}

// physicalSet judges the PortPhysicalState that a Set asked for and the node took (rule SMP-PI-007).
func (v *Verifier) physicalSet(x *exchange) {
	to, physical := uint8(piState.Uint(x.data[:])), piPhysical.Uint(x.data[:])
	if v.breaks(rule.SMPPI007, physical > 3 || physical != 0 && to > down) {
		v.report(rule.SMPPI007, v.paired(), rule.Responder, invalidValue+": the physical state is set to 1, 2 or 3, with PortState Down or none",
			fmt.Sprintf("status 0 to a Set of physical state %d with %s", physical, stateText(to)), x.frame)
	}
}

// valuesSet judges that the response to a Set has the values that were set (rule SMP-MTH-004).
func (v *Verifier) valuesSet(x *exchange) {
	d, want := v.s.Data, x.data[:]
	for _, f := range asSet {
		if v.breaks(rule.SMPMTH004, !f.Same(d, want)) {
			x.badLIDs = f.Name == piLID.Name || f.Name == piLMC.Name
			v.report(rule.SMPMTH004, v.paired(), rule.Responder, f.Name+" "+f.Text(want)+" as set", f.Text(d), x.frame)
			return
		}
	}
}

// linkSet judges a Set of what the link may have, where the answer shows no fault itself. While the port is down the answer does not tell what it may have.
func (v *Verifier) linkSet(x *exchange) {
	d, want, was := v.s.Data, x.data[:], x.stateBefore
	if was == 0 {
		was = uint8(piState.Uint(d))
	}
	if was <= down || was == deferred || x.at.known() && x.at.node.Type == subnet.Switch && x.Modifier&0xFF == 0 {
		return
	}
	if on, able := piWidthOn.Uint(want), piWidthCap.Uint(d); v.breaks(rule.SMPPI003, on != 0xFF && on&^able != 0 && piWidthOn.Uint(d)&^able == 0) {
		v.report(rule.SMPPI003, v.paired(), rule.Responder, fmt.Sprintf(invalidValue+": LinkWidthSupported is 0x%02x", able), fmt.Sprintf("status 0 to a Set of LinkWidthEnabled 0x%02x", on), x.frame)
	}
	if on, able := piSpeedOn.Uint(want), piSpeedCap.Uint(d); v.breaks(rule.SMPPI004, on != 0xF && on&^able != 0 && piSpeedOn.Uint(d)&^able == 0) {
		v.report(rule.SMPPI004, v.paired(), rule.Responder, fmt.Sprintf(invalidValue+": LinkSpeedSupported is 0x%x", able), fmt.Sprintf("status 0 to a Set of LinkSpeedEnabled 0x%x", on), x.frame)
	}
	v.mtuSet(x)
}

// mtuSet judges a Set of NeighborMTU and OperationalVLs by MTUCap and VLCap (rule SMP-PI-005).
func (v *Verifier) mtuSet(x *exchange) {
	d, want := v.s.Data, x.data[:]
	mtu, mtuCap, vls, vlCap := piMTU.Uint(want), piMTUCap.Uint(d), piVLs.Uint(want), piVLCap.Uint(d)
	if v.breaks(rule.SMPPI005, mtu > mtuCap && piMTU.Uint(d) <= mtuCap || vls > vlCap && piVLs.Uint(d) <= vlCap) {
		v.report(rule.SMPPI005, v.paired(), rule.Responder, fmt.Sprintf(invalidValue+": MTUCap is %d, VLCap %d", mtuCap, vlCap),
			fmt.Sprintf("status 0 to a Set of NeighborMTU %d, OperationalVLs %d", mtu, vls), x.frame)
	}
}

// asSet are components of PortInfo that take the value that is set.
var asSet = []mad.Field{piLID, piSMLID, piLMC, piLease, piProtect, piTimeout}

// stillSet judges that a Get of PortInfo returns what was set before.
func (v *Verifier) stillSet(x *exchange, k *port) {
	t := v.asBlock(x)
	if x.Method == mad.Set {
		copy(t.data[:], x.data[:])
		t.frame, t.held = v.p.Frame, v.p.Time
		for _, f := range asSet[:3] {
			t.set = t.set && f.Same(v.s.Data, t.data[:]) // else what the port has is not known
		}
		return
	}
	if state := uint8(piState.Uint(v.s.Data)); !t.set || x.badLIDs || x.wrongMKey || !k.has || state != armed && state != active {
		return // where the link went down, a port may have forgotten
	}
	for _, f := range asSet[:3] { // a lease runs out
		if v.breaks(rule.SMPMTH004, !f.Same(v.s.Data, t.data[:])) {
			class := v.lasting()
			if x.time-t.held > restartTime {
				class = rule.Unproven
			}
			v.report(rule.SMPMTH004, class, rule.Responder, f.Name+" "+f.Text(t.data[:])+" as it was set", f.Text(v.s.Data), x.frame, t.frame)
			t.set, x.badLIDs = false, true
			return
		}
	}
	t.held = v.p.Time
}
