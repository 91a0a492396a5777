package mad

// The records of subnet administration (table T13). Those that hold an attribute of subnet management have it as one component.
var (
	LayoutNodeRecord       = layout("NodeRecord", 108, "0:LID/16 2:rsv/16 4:nodeInfo/320 44:nodeDescription/512")
	LayoutPortInfoRecord   = layout("PortInfoRecord", 68, "0:endportLID/16 2:portNum/8 3:rsv/8 4:portInfo/512")
	LayoutSLtoVLRecord     = layout("SLToVLMappingTableRecord", 16, "0:LID/16 2:inputPortNum/8 3:outputPortNum/8 4:rsv/32 8:SLToVLMappingTable/64")
	LayoutSwitchInfoRecord = layout("SwitchInfoRecord", 24, "0:LID/16 2:rsv/16 4:switchInfo/160")
	LayoutLFTRecord        = layout("LinearForwardingTableRecord", 72, "0:LID/16 2:blockNum/16 4:rsv/32 8:linearForwardingTable/512")
	LayoutSMInfoRecord     = layout("SMInfoRecord", 28, "0:LID/16 2:rsv/16 4:SMInfo/192")
	LayoutLinkRecord       = layout("LinkRecord", 8, "0:fromLID/16 2:fromPort/8 3:toPort/8 4:toLID/16 6:rsv/16")
	LayoutGUIDInfoRecord   = layout("GUIDInfoRecord", 72, "0:LID/16 2:blockNum/8 3:rsv/8 4:rsv/32 8:GUIDInfo/512")
	LayoutServiceRecord    = layout("ServiceRecord", 176, "0:serviceID/64 8:serviceGID/128 24:servicePKey/16 26:rsv/16 28:serviceLease/32 "+
		"32:serviceKey/128 48:serviceName/8x64 112:serviceData8/8x16 128:serviceData16/16x8 144:serviceData32/32x4 160:serviceData64/64x2")
	LayoutPKeyTableRecord = layout("PKeyTableRecord", 72, "0:LID/16 2:blockNum/16 4:portNum/8 5:rsv/24 8:PKeyTable/512")
	LayoutPathRecord      = layout("PathRecord", 64, "0:serviceID/64 8:DGID/128 24:SGID/128 40:DLID/16 42:SLID/16 44.0:rawTraffic/1 44.1:rsv/3 "+
		"44.4:flowLabel/20 47:hopLimit/8 48:TClass/8 49.0:reversible/1 49.1:numbPath/7 50:PKey/16 52.0:QOSClass/12 53.4:SL/4 54.0:MTUSelector/2 "+
		"54.2:MTU/6 55.0:rateSelector/2 55.2:rate/6 56.0:packetLifeTimeSelector/2 56.2:packetLifeTime/6 57:preference/8 "+
		"58.0:reversePathPKeyMemberBit/2 58.2:rsv/14 60:rsv/32")
	LayoutVLArbRecord    = layout("VLArbitrationTableRecord", 72, "0:LID/16 2:outputPortNum/8 3:blockNum/8 4:rsv/32 8:VLArbitrationTable/512")
	LayoutMCMemberRecord = layout("MCMemberRecord", 52, "0:MGID/128 16:portGID/128 32:QKey/32 36:MLID/16 38.0:MTUSelector/2 38.2:MTU/6 39:TClass/8 "+
		"40:PKey/16 42.0:rateSelector/2 42.2:rate/6 43.0:packetLifeTimeSelector/2 43.2:packetLifeTime/6 44.0:SL/4 44.4:flowLabel/20 47:hopLimit/8 "+
		"48.0:scope/4 48.4:joinState/4 49.0:proxyJoin/1 49.1:rsv/23")
	LayoutTraceRecord = layout("TraceRecord", 48, "0:GIDPrefix/64 8:IDGeneration/16 10:rsv/8 11:nodeType/8 12:nodeID/64 20:chassisID/64 "+
		"28:entryPortID/64 36:exitPortID/64 44:entryPort/8 45:exitPort/8 46:rsv/16")
	// A MultiPathRecord goes on with as many GIDs as its two counts say.
	LayoutMultiPathRecord = layout("MultiPathRecord", 40, "0.0:rawTraffic/1 0.1:rsv/3 0.4:flowLabel/20 3:hopLimit/8 4:TClass/8 5.0:reversible/1 "+
		"5.1:numbPath/7 6:PKey/16 8.0:rsv/12 9.4:SL/4 10.0:MTUSelector/2 10.2:MTU/6 11.0:rateSelector/2 11.2:rate/6 12.0:packetLifeTimeSelector/2 "+
		"12.2:packetLifeTime/6 13:rsv/8 14.0:independenceSelector/2 14.2:rsv/6 15:SGIDCount/8 16:DGIDCount/8 17:rsv/24 20:rsv/32 24:SDGID/128x1")
	LayoutInformInfoRecord   = layout("InformInfoRecord", 80, "0:subscriberGID/128 16:enumeration/16 18:rsv/16 20:rsv/32 24:informInfo/288 60:rsv/160")
	LayoutServiceAssociation = layout("ServiceAssociationRecord", 80, "0:serviceKey/128 16:serviceName/8x64")
)

var saRecords = map[Attribute]*Layout{
	AttrNodeRecord:         LayoutNodeRecord,
	AttrPortInfoRecord:     LayoutPortInfoRecord,
	AttrSLtoVLRecord:       LayoutSLtoVLRecord,
	AttrSwitchInfoRecord:   LayoutSwitchInfoRecord,
	AttrLFTRecord:          LayoutLFTRecord,
	AttrSMInfoRecord:       LayoutSMInfoRecord,
	AttrLinkRecord:         LayoutLinkRecord,
	AttrGUIDInfoRecord:     LayoutGUIDInfoRecord,
	AttrServiceRecord:      LayoutServiceRecord,
	AttrPKeyTableRecord:    LayoutPKeyTableRecord,
	AttrPathRecord:         LayoutPathRecord,
	AttrVLArbRecord:        LayoutVLArbRecord,
	AttrMCMemberRecord:     LayoutMCMemberRecord,
	AttrTraceRecord:        LayoutTraceRecord,
	AttrMultiPathRecord:    LayoutMultiPathRecord,
	AttrInformInfoRecord:   LayoutInformInfoRecord,
	AttrServiceAssociation: LayoutServiceAssociation,
}

// SARecord returns the layout of a record of subnet administration, or nil where there is none.
func SARecord(a Attribute) *Layout { return saRecords[a] }

// components is how many components an attribute has for the mask of the subnet administrator (rule MAD-SA-008): each reserved field counts,
// and each field of an attribute within the record. A service ID is two in a PathRecord, and each element of the data of a ServiceRecord is one.
var components = map[Attribute]int{
	AttrPathRecord: 26, AttrMCMemberRecord: 19, AttrNodeRecord: 15, AttrServiceRecord: 37, AttrLinkRecord: 5, AttrSwitchInfoRecord: 24,
	AttrGUIDInfoRecord: 12, AttrLFTRecord: 68, AttrPKeyTableRecord: 36, AttrVLArbRecord: 64, AttrSLtoVLRecord: 20, AttrMultiPathRecord: 64,
}

// Components returns how many bits of a component mask mean something for an attribute of subnet administration; 64 where that is not known.
func Components(a Attribute) int {
	if n, ok := components[a]; ok {
		return min(n, 64)
	}
	return 64
}
