package smp

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/rule"
	"ibwitness/subnet"
)

func pi(name string) mad.Field { return mad.LayoutPortInfo.Field(name) }

var (
	piMKey       = pi("MKey")
	piPrefix     = pi("GIDPrefix")
	piLID        = pi("LID")
	piSMLID      = pi("masterSMLID")
	piCapability = pi("capabilityMask")
	piLease      = pi("MKeyLeasePeriod")
	piLocalPort  = pi("localPortNum")
	piWidthOn    = pi("linkWidthEnabled")
	piWidthCap   = pi("linkWidthSupported")
	piWidth      = pi("linkWidthActive")
	piSpeedCap   = pi("linkSpeedSupported")
	piSpeed      = pi("linkSpeedActive")
	piState      = pi("portState")
	piPhysical   = pi("portPhysicalState")
	piProtect    = pi("MKeyProtectBits")
	piLMC        = pi("LMC")
	piSpeedOn    = pi("linkSpeedEnabled")
	piMTU        = pi("neighborMTU")
	piSMSL       = pi("masterSMSL")
	piVLCap      = pi("VLCap")
	piHighCap    = pi("VLArbitrationHighCap")
	piLowCap     = pi("VLArbitrationLowCap")
	piMTUCap     = pi("MTUCap")
	piVLs        = pi("operationalVLs")
	piViolations = pi("MKeyViolations")
	piGUIDCap    = pi("GUIDCap")
	piReregister = pi("clientReregister")
	piTimeout    = pi("subnetTimeOut")
	piRespTime   = pi("respTimeValue")
)

// States of a port.
const (
	down   = 1
	initSt = 2
	armed  = 3
	active = 4

	deferred = 5
)

var stateNames = [...]string{"no change", "Down", "Initialize", "Armed", "Active"}

func stateText(n uint8) string {
	if int(n) < len(stateNames) {
		return stateNames[n]
	}
	return fmt.Sprintf("state %d", n)
}

// Bits of the capability mask.
const (
	capSM        = 1 << 1
	capSLMapping = 1 << 6
	// capVaries are bits that software on the node switches: SM, CM, SNMP tunnelling, device management, vendor class.
	capVaries = capSM | 1<<16 | 1<<17 | 1<<19 | 1<<20
)

// mtuBytes is the size that an MTU code means.
func mtuBytes(code uint64) uint32 { return 128 << code }

// lanes is how many data VLs a code means.
func lanes(code uint64) uint8 {
	if code == 5 {
		return 15
	}
	return 1 << (code - 1)
}

// portInfo judges the PortInfo of an answer, and learns from it.
func (v *Verifier) portInfo(x *exchange) {
	d, number := v.s.Data, v.s.Modifier&0xFF
	if x.at.known() {
		n := uint32(x.at.node.NumPorts)
		if v.breaks(rule.SMPPI001, number > n) {
			v.report(rule.SMPPI001, v.paired(), rule.Responder, fmt.Sprintf(invalidValue+": the node has %d ports", n), fmt.Sprintf("PortInfo of port %d", number), x.frame)
			return
		}
		if local := uint32(piLocalPort.Uint(d)); v.breaks(rule.SMPPI001, local > n) {
			v.report(rule.SMPPI001, v.paired(), rule.Responder, fmt.Sprintf("a LocalPortNum of the %d ports", n), fmt.Sprintf("LocalPortNum %d", local), x.frame)
		}
	}
	if x.Method == mad.Set {
		v.portSet(x)
	} else if uint8(piState.Uint(d)) != down && v.breaks(rule.SMPPI008, piReregister.Uint(d) != 0) {
		v.report(rule.SMPPI008, v.paired(), rule.Responder, "ClientReregister 0 in the response to a Get: it is not stored", "ClientReregister 1", x.frame)
	}
	v.linkInfo(x)
	if v.fresh(x) {
		v.learnPort(x)
	}
}

// linkInfo judges components that must be consistent in each PortInfo. While the port is down they mean nothing (C14-24.2.1).
func (v *Verifier) linkInfo(x *exchange) {
	d := v.s.Data
	state, physical := uint8(piState.Uint(d)), piPhysical.Uint(d)
	if x.at.known() && x.at.node.Type == subnet.Switch && v.s.Modifier&0xFF == 0 {
		if mtu, vls := piMTU.Uint(d), piVLs.Uint(d); v.breaks(rule.SMPPI005, max(mtu, vls, piMTUCap.Uint(d), piVLCap.Uint(d)) > 5) {
			v.report(rule.SMPPI005, rule.Unproven, rule.Responder, "codes of MTUs and VLs up to 5, where port 0 uses them",
				fmt.Sprintf("NeighborMTU %d of MTUCap %d, OperationalVLs %d of VLCap %d", mtu, piMTUCap.Uint(d), vls, piVLCap.Uint(d)), x.frame)
		}
		v.endLIDs(x)
		return
	}
	if v.breaks(rule.LNKST006, physical == 0 || physical > 7) {
		v.report(rule.LNKST006, v.paired(), rule.Responder, "a PortPhysicalState of 1 to 7", fmt.Sprintf("%d", physical), x.frame)
	}
	if v.breaks(rule.SMPPI006, state == 0 || state > deferred) {
		v.report(rule.SMPPI006, v.paired(), rule.Responder, "a PortState of 1 to 5", fmt.Sprintf("%d", state), x.frame)
		return
	}
	if state == down {
		return
	}
	used := state == armed || state == active
	v.linkCodes(x, used)
	v.endLIDs(x)
}

// linkCodes judges the widths, speeds, MTUs and numbers of VLs of a PortInfo (rules SMP-PI-003, -004, -005). used says that the port is in use.
func (v *Verifier) linkCodes(x *exchange, used bool) {
	v.linkWidth(x, used)
	v.linkSpeed(x, used)
	v.linkMTU(x, used)
}

// linkWidth judges LinkWidthEnabled and LinkWidthActive of a PortInfo (rule SMP-PI-003).
func (v *Verifier) linkWidth(x *exchange, used bool) {
	d := v.s.Data
	on, able, now := piWidthOn.Uint(d), piWidthCap.Uint(d), piWidth.Uint(d)
	switch {
	case v.breaks(rule.SMPPI003, on == 0 || on&^able != 0):
		v.report(rule.SMPPI003, v.paired(), rule.Responder, fmt.Sprintf("LinkWidthEnabled within LinkWidthSupported 0x%02x", able), fmt.Sprintf("0x%02x", on), x.frame)
	case used && (now > 16 || !oneBit(now)):
		v.report(rule.SMPPI003, v.paired(), rule.Responder, "a LinkWidthActive of 1, 2, 4, 8 or 16", fmt.Sprintf("0x%02x", now), x.frame)
	}
}

// linkSpeed judges LinkSpeedEnabled, LinkSpeedSupported and LinkSpeedActive of a PortInfo (rule SMP-PI-004).
func (v *Verifier) linkSpeed(x *exchange, used bool) {
	d := v.s.Data
	on, able, now := piSpeedOn.Uint(d), piSpeedCap.Uint(d), piSpeed.Uint(d)
	switch {
	case v.breaks(rule.SMPPI004, on&^able != 0):
		v.report(rule.SMPPI004, v.paired(), rule.Responder, fmt.Sprintf("LinkSpeedEnabled within LinkSpeedSupported 0x%x", able), fmt.Sprintf("0x%x", on), x.frame)
	case able > 7:
		v.report(rule.SMPPI004, v.paired(), rule.Responder, "LinkSpeedSupported of 2.5, 5 and 10 Gb/s, up to 7", fmt.Sprintf("0x%x", able), x.frame)
	case used && (now > 4 || now != 0 && !oneBit(now)): // 0: of a port whose speed is an extended one
		v.report(rule.SMPPI004, v.paired(), rule.Responder, "a LinkSpeedActive of 1, 2 or 4", fmt.Sprintf("0x%x", now), x.frame)
	}
}

// linkMTU judges MTUCap, NeighborMTU, VLCap and OperationalVLs of a PortInfo (rule SMP-PI-005).
func (v *Verifier) linkMTU(x *exchange, used bool) {
	d := v.s.Data
	mtu, mtuCap, vls, vlCap := piMTU.Uint(d), piMTUCap.Uint(d), piVLs.Uint(d), piVLCap.Uint(d)
	switch {
	case v.breaks(rule.SMPPI005, mtuCap < 1 || mtuCap > 5 || vlCap < 1 || vlCap > 5):
		v.report(rule.SMPPI005, v.paired(), rule.Responder, "MTUCap and VLCap codes of 1 to 5", fmt.Sprintf("MTUCap %d, VLCap %d", mtuCap, vlCap), x.frame)
	case mtu > 5 || vls > 5 || used && (mtu < 1 || mtu > mtuCap || vls > vlCap): // before it is in use, what it may have is for the manager to say
		v.report(rule.SMPPI005, v.paired(), rule.Responder, fmt.Sprintf("NeighborMTU code 1 to %d, OperationalVLs code up to %d", mtuCap, vlCap),
			fmt.Sprintf("NeighborMTU %d, OperationalVLs %d", mtu, vls), x.frame)
	}
}

// endLIDs judges the LIDs that a port in use reports when it is asked.
func (v *Verifier) endLIDs(x *exchange) {
	d := v.s.Data
	if state := uint8(piState.Uint(d)); state != armed && state != active || !x.at.endport(x.Modifier) || x.Method == mad.Set {
		return
	}
	lid, lmc := piLID.Uint(d), piLMC.Uint(d)
	if v.breaks(rule.SMPPI002, lid >= 0xC000 || lid&(1<<lmc-1) != 0 || piSMLID.Uint(d) >= 0xC000) {
		x.badLIDs = true
		v.report(rule.SMPPI002, v.paired(), rule.Responder, "unicast LIDs of port and manager, the port's a multiple of 2^LMC",
			fmt.Sprintf("LID 0x%04x, LMC %d, SMLID 0x%04x", lid, lmc, piSMLID.Uint(d)), x.frame)
	}
}

// oneBit reports whether just one bit is set.
func oneBit(n uint64) bool { return n != 0 && n&(n-1) == 0 }

// lidsText is what a PortInfo says of LIDs, and bad whether that is nothing that can be set.
func lidsText(d []byte) (text string, bad bool) {
	lid, lmc, sm := piLID.Uint(d), piLMC.Uint(d), piSMLID.Uint(d)
	return fmt.Sprintf("LID 0x%04x, LMC %d, SMLID 0x%04x", lid, lmc, sm), lid == 0 || lid >= 0xC000 || lid&(1<<lmc-1) != 0 || sm == 0 || sm >= 0xC000
}

// infoPort is the port that a PortInfo describes.
func (v *Verifier) infoPort(x *exchange) *subnet.Port {
	n := uint8(x.Modifier)
	switch {
	case !x.at.known() || n > x.at.node.NumPorts:
		return nil
	case n != 0 || x.at.node.Type == subnet.Switch:
		return x.at.node.Port(n)
	}
	return x.at.port()
}

// restarted notes that a port was seen down, or not in use yet: its node may have been switched off, and its tables be what they were made with.
func (v *Verifier) restarted(p *subnet.Port) {
	k := v.of(p)
	k.restartedAt = v.p.Time
	clear(k.blocks)
	clear(k.guids)
	p.Has &^= subnet.KnowsSLtoVL | subnet.KnowsPKeys | subnet.KnowsGUIDs
}

// learnPort keeps what a PortInfo says, and judges it by what is known.
func (v *Verifier) learnPort(x *exchange) {
	d, p := v.s.Data, v.infoPort(x)
	if p.State = uint8(piState.Uint(d)); p.State == down && x.Method == mad.Get { // the rest may mean nothing (SMP-PI-009)
		v.restarted(p)
		p.Has &^= subnet.KnowsInfo | subnet.KnowsMTU | subnet.KnowsVLs
		p.Time, p.Frame = v.p.Time, v.p.Frame
		return
	}
	k, end := v.of(p), x.at.endport(x.Modifier)
	if p.State == initSt && x.Method == mad.Get {
		v.restarted(p)
	}
	if end {
		v.stillSet(x, k)
		v.capabilities(x, p, k)
		switch {
		case p != x.at.port():
		case !x.wrongMKey || piProtect.Uint(d) == 0:
			v.learnMKey(x, k)
		default: // the key is hidden, and a Set may not have been taken
			k.wrongs = 0 // the violations that are told count them
		}
	}
	v.learnLink(p)
	copy(k.info[:], d)
	k.has, k.frame = true, v.p.Frame
	if end {
		v.learnAddress(x, p, k)
	}
}

// learnLink keeps what the PortInfo at hand says of the link: MTU and VLs mean something where the port is in use.
func (v *Verifier) learnLink(p *subnet.Port) {
	d := v.s.Data
	p.Has |= subnet.KnowsInfo
	p.MTUCap, p.VLCap = mtuBytes(piMTUCap.Uint(d)), lanes(max(piVLCap.Uint(d), 1))
	p.SubnetTimeout, p.RespTime = uint8(piTimeout.Uint(d)), uint8(piRespTime.Uint(d))
	p.Time, p.Frame = v.p.Time, v.p.Frame
	p.Has &^= subnet.KnowsMTU | subnet.KnowsVLs
	if p.State != armed && p.State != active {
		return
	}
	if c := piMTU.Uint(d); c >= 1 && c <= 5 {
		p.MTU, p.Has = mtuBytes(c), p.Has|subnet.KnowsMTU
	}
	if c := piVLs.Uint(d); c >= 1 && c <= 5 {
		p.OperVLs, p.Has = lanes(c), p.Has|subnet.KnowsVLs
	}
}

// learnAddress keeps the GID prefix, the capability mask, the manager and the LIDs of a port, and judges that no other port has these LIDs (rule SMP-RT-001).
func (v *Verifier) learnAddress(x *exchange, p *subnet.Port, k *port) {
	d := v.s.Data
	if prefix := piPrefix.Uint(d); prefix != p.Prefix {
		if p.Prefix != 0 {
			p.Changed = v.p.Time
		}
		p.Prefix = prefix
	}
	k.wholeGUIDs(p)
	p.CapabilityMask = uint32(piCapability.Uint(d))
	p.SMLID, p.SMSL = uint16(piSMLID.Uint(d)), uint8(piSMSL.Uint(d))
	lid, lmc := uint16(piLID.Uint(d)), uint8(piLMC.Uint(d))
	if p.LID != 0 && (p.LID != lid || p.LMC != lmc) {
		p.Changed = v.p.Time
	}
	if x.badLIDs {
		return // what its LIDs are is not known
	}
	other := v.Subnet.SetLID(p, lid, lmc)
	k.age = v.age
	if lid != 0 && v.breaks(rule.SMPRT001, other != nil) {
		v.report(rule.SMPRT001, v.lasting(), rule.Responder, fmt.Sprintf("LIDs that no other port has: port %d of node 0x%016x has some", other.Number, other.Node.GUID),
			fmt.Sprintf("LID %d, LMC %d", lid, lmc), x.frame, other.Frame)
	}
}

// capabilities judges the capability mask and the GID prefix.
func (v *Verifier) capabilities(x *exchange, p *subnet.Port, k *port) {
	d := v.s.Data
	mask := uint32(piCapability.Uint(d))
	state := uint8(piState.Uint(d))
	bad, want := false, "GIDPrefix other than 0"
	actual := fmt.Sprintf("GIDPrefix 0x%016x", piPrefix.Uint(d))
	if state == active && piPrefix.Uint(d) == 0 {
		bad = true
	} else if k.has && (mask^p.CapabilityMask)&^capVaries != 0 && (k.maskWas == 0 || mask != k.maskWas) {
		k.maskWas = p.CapabilityMask // if it goes back to that, it was this answer
		bad, want, actual = true, fmt.Sprintf("CapabilityMask 0x%08x as before, but for what software switches", p.CapabilityMask), fmt.Sprintf("0x%08x", mask)
	}
	if v.breaks(rule.SMPPI012, bad) {
		v.report(rule.SMPPI012, v.lasting(), rule.Responder, want, actual, x.frame)
	}
	if state == down || x.at.node.Type == subnet.Switch {
		return
	}
	if mask&capSLMapping == 0 && v.breaks(rule.SMPSV002, piVLCap.Uint(d) > 1) {
		v.report(rule.SMPSV002, v.paired(), rule.Responder, "VLCap 1 where the capability mask has no SL mapping", fmt.Sprintf("VLCap %d, CapabilityMask 0x%08x", piVLCap.Uint(d), mask), x.frame)
	}
}
