package mad

// The attributes of subnet management (table T11).
const (
	AttrNodeDescription     Attribute = 0x10
	AttrNodeInfo            Attribute = 0x11
	AttrSwitchInfo          Attribute = 0x12
	AttrGUIDInfo            Attribute = 0x14
	AttrPortInfo            Attribute = 0x15
	AttrPKeyTable           Attribute = 0x16
	AttrSLtoVL              Attribute = 0x17
	AttrVLArbitration       Attribute = 0x18
	AttrLinearForwarding    Attribute = 0x19
	AttrRandomForwarding    Attribute = 0x1A
	AttrMulticastForwarding Attribute = 0x1B
	AttrLinkSpeedWidthPairs Attribute = 0x1C
	AttrSMInfo              Attribute = 0x20
	AttrVendorDiag          Attribute = 0x30
	AttrLedInfo             Attribute = 0x31
	firstVendorAttr         Attribute = 0xFF00
)

// The attributes as table T12 has them; they begin at byte SMPData of the datagram.
var (
	LayoutNodeDescription = layout("NodeDescription", 64, "0:nodeString/8x64")
	LayoutNodeInfo        = layout("NodeInfo", 40, "0:baseVersion/8 1:classVersion/8 2:nodeType/8 3:numPorts/8 4:systemImageGUID/64 12:nodeGUID/64 "+
		"20:portGUID/64 28:partitionCap/16 30:deviceID/16 32:revision/32 36:localPortNum/8 37:vendorID/24")
	LayoutSwitchInfo = layout("SwitchInfo", 20, "0:linearFDBCap/16 2:randomFDBCap/16 4:multicastFDBCap/16 6:linearFDBTop/16 8:defaultPort/8 "+
		"9:defaultMulticastPrimaryPort/8 10:defaultMulticastNotPrimaryPort/8 11.0:lifeTimeValue/5 11.5:portStateChange/1 "+
		"11.6:optimizedSLtoVLMappingProgramming/2 12:LIDsPerPort/16 14:partitionEnforcementCap/16 16.0:inboundEnforcementCap/1 "+
		"16.1:outboundEnforcementCap/1 16.2:filterRawInboundCap/1 16.3:filterRawOutboundCap/1 16.4:enhancedPort0/1 16.5:rsv/3 17:rsv/8 "+
		"18:multicastFDBTop/16")
	LayoutGUIDInfo = layout("GUIDInfo", 64, "0:GUIDBlock/64x8")
	LayoutPortInfo = layout("PortInfo", 64, "0:MKey/64 8:GIDPrefix/64 16:LID/16 18:masterSMLID/16 20:capabilityMask/32 24:diagCode/16 "+
		"26:MKeyLeasePeriod/16 28:localPortNum/8 29:linkWidthEnabled/8 30:linkWidthSupported/8 31:linkWidthActive/8 32.0:linkSpeedSupported/4 "+
		"32.4:portState/4 33.0:portPhysicalState/4 33.4:linkDownDefaultState/4 34.0:MKeyProtectBits/2 34.2:rsv/3 34.5:LMC/3 35.0:linkSpeedActive/4 "+
		"35.4:linkSpeedEnabled/4 36.0:neighborMTU/4 36.4:masterSMSL/4 37.0:VLCap/4 37.4:initType/4 38:VLHighLimit/8 39:VLArbitrationHighCap/8 "+
		"40:VLArbitrationLowCap/8 41.0:initTypeReply/4 41.4:MTUCap/4 42.0:VLStallCount/3 42.3:HOQLife/5 43.0:operationalVLs/4 "+
		"43.4:partitionEnforcementInbound/1 43.5:partitionEnforcementOutbound/1 43.6:filterRawInbound/1 43.7:filterRawOutbound/1 44:MKeyViolations/16 "+
		"46:PKeyViolations/16 48:QKeyViolations/16 50:GUIDCap/8 51.0:clientReregister/1 51.1:multicastPKeyTrapSuppressionEnabled/2 51.3:subnetTimeOut/5 "+
		"52.0:rsv/3 52.3:respTimeValue/5 53.0:localPhyErrors/4 53.4:overrunErrors/4 54:maxCreditHint/16 56:rsv/8 57:linkRoundTripLatency/24 "+
		"60:capabilityMask2/16 62.0:linkSpeedExtActive/4 62.4:linkSpeedExtSupported/4 63.0:rsv/3 63.3:linkSpeedExtEnabled/5")
	LayoutPKeyTable           = layout("P_KeyTable", 64, "0:PKeyBlock/16x32")
	LayoutSLtoVL              = layout("SLtoVLMappingTable", 8, "0:SLtoVL/4x16")
	LayoutVLArbitration       = layout("VLArbitrationTable", 64, "0:VLWeightBlock/16x32")
	LayoutLinearForwarding    = layout("LinearForwardingTable", 64, "0:portBlock/8x64")
	LayoutRandomForwarding    = layout("RandomForwardingTable", 64, "0:LIDPortBlock/32x16")
	LayoutMulticastForwarding = layout("MulticastForwardingTable", 64, "0:portMaskBlock/16x32")
	LayoutSMInfo              = layout("SMInfo", 24, "0:GUID/64 8:SMKey/64 16:actCount/32 20.0:priority/4 20.4:SMState/4 21:rsv/24")
	LayoutVendorDiag          = layout("VendorDiag", 64, "0:nextIndex/16 2:rsv/16 4:diagData/480")
	LayoutLedInfo             = layout("LedInfo", 4, "0.0:ledMask/1 0.1:rsv/31")
)

var smpAttributes = map[Attribute]*Layout{
	AttrNotice:              LayoutNotice,
	AttrNodeDescription:     LayoutNodeDescription,
	AttrNodeInfo:            LayoutNodeInfo,
	AttrSwitchInfo:          LayoutSwitchInfo,
	AttrGUIDInfo:            LayoutGUIDInfo,
	AttrPortInfo:            LayoutPortInfo,
	AttrPKeyTable:           LayoutPKeyTable,
	AttrSLtoVL:              LayoutSLtoVL,
	AttrVLArbitration:       LayoutVLArbitration,
	AttrLinearForwarding:    LayoutLinearForwarding,
	AttrRandomForwarding:    LayoutRandomForwarding,
	AttrMulticastForwarding: LayoutMulticastForwarding,
	AttrSMInfo:              LayoutSMInfo,
	AttrVendorDiag:          LayoutVendorDiag,
	AttrLedInfo:             LayoutLedInfo,
}

// SMPAttribute returns the layout of an attribute of subnet management, or nil where it has none here.
func SMPAttribute(a Attribute) *Layout { return smpAttributes[a] }

// smpAttribute names an attribute of subnet management, or "".
func smpAttribute(c Class, a Attribute) string {
	switch l := SMPAttribute(a); {
	case c != ClassSubnetLID && c != ClassSubnetDirected:
	case l != nil:
		return l.Name
	case a == AttrLinkSpeedWidthPairs:
		return "LinkSpeedWidthPairsTable"
	}
	return ""
}

// SMPMethods says which methods of subnet management an attribute has (table T11); ok is false for attributes that are not in the table,
// those of the vendors among them. NodeDescription may be set where the node has that capability.
func SMPMethods(a Attribute) (get, set, trap, ok bool) {
	switch a {
	case AttrNotice:
		return true, true, true, true
	case AttrNodeInfo, AttrVendorDiag:
		return true, false, false, true
	}
	ok = a != 0 && a < firstVendorAttr && (SMPAttribute(a) != nil || a == AttrLinkSpeedWidthPairs)
	return ok, ok, false, ok
}

// VLArb is one entry of a VLArbitrationTable.
type VLArb uint16

// VL is the lane.
func (v VLArb) VL() uint8 { return uint8(v>>8) & 0xF }

// Weight is how many units of 64 bytes the lane may send; 0: the entry is skipped.
func (v VLArb) Weight() uint8 { return uint8(v) }

// RandomEntry is one entry of a RandomForwardingTable.
type RandomEntry uint32

// Reserved is the four bits that senders set to 0.
func (e RandomEntry) Reserved() uint8 { return uint8(e>>8) & 0xF }
