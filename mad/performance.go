package mad

// The attributes of performance management (table T15).
const (
	AttrPortSamplesControl   Attribute = 0x10
	AttrPortSamplesResult    Attribute = 0x11
	AttrPortCounters         Attribute = 0x12
	AttrPortCountersExtended Attribute = 0x1D
)

var performanceAttributes = map[Attribute]string{
	AttrPortSamplesControl: "PortSamplesControl", AttrPortSamplesResult: "PortSamplesResult", AttrPortCounters: "PortCounters",
	0x15: "PortRcvErrorDetails", 0x16: "PortXmitDiscardDetails", 0x17: "PortOpRcvCounters", 0x18: "PortFlowCtlCounters", 0x19: "PortVLOpPackets",
	0x1A: "PortVLOpData", 0x1B: "PortVLXmitFlowCtlUpdateErrors", 0x1C: "PortVLXmitWaitCounters", AttrPortCountersExtended: "PortCountersExtended",
	0x1E: "PortSamplesResultExtended",
}

// The attributes themselves: they begin at byte PerformanceData of the MAD.
var (
	LayoutPortCounters = layout("PortCounters", 44, "0:rsv/8 1:portSelect/8 2:counterSelect/16 4:symbolErrorCounter/16 6:linkErrorRecoveryCounter/8 "+
		"7:linkDownedCounter/8 8:portRcvErrors/16 10:portRcvRemotePhysicalErrors/16 12:portRcvSwitchRelayErrors/16 14:portXmitDiscards/16 "+
		"16:portXmitConstraintErrors/8 17:portRcvConstraintErrors/8 18:counterSelect2/8 19.0:localLinkIntegrityErrors/4 "+
		"19.4:excessiveBufferOverrunErrors/4 20:rsv/16 22:VL15Dropped/16 24:portXmitData/32 28:portRcvData/32 32:portXmitPkts/32 36:portRcvPkts/32 "+
		"40:portXmitWait/32")
	LayoutPortCountersExtended = layout("PortCountersExtended", 72, "0:rsv/8 1:portSelect/8 2:counterSelect/16 4:rsv/32 8:portXmitData/64 16:portRcvData/64 "+
		"24:portXmitPkts/64 32:portRcvPkts/64 40:portUnicastXmitPkts/64 48:portUnicastRcvPkts/64 56:portMulticastXmitPkts/64 64:portMulticastRcvPkts/64")
	LayoutPortSamplesControl = layout("PortSamplesControl", 192, "0:opCode/8 1:portSelect/8 2:tick/8 3.0:rsv/5 3.5:counterWidth/3 4.0:rsv/2 "+
		"4.2:counterMask0/3 4.5:counterMask1/3 5.0:counterMask2/3 5.3:counterMask3/3 5.6:counterMask4/3 6.1:counterMask5/3 6.4:counterMask6/3 "+
		"6.7:counterMask7/3 7.2:counterMask8/3 7.5:counterMask9/3 8.0:rsv/1 8.1:counterMask10/3 8.4:counterMask11/3 8.7:counterMask12/3 "+
		"9.2:counterMask13/3 9.5:counterMask14/3 10:sampleMechanisms/8 11.0:rsv/6 11.6:sampleStatus/2 12:optionMask/64 20:vendorMask/64 "+
		"28:sampleStart/32 32:sampleInterval/32 36:tag/16 38:counterSelect0/16 40:counterSelect1/16 42:counterSelect2/16 44:counterSelect3/16 "+
		"46:counterSelect4/16 48:counterSelect5/16 50:counterSelect6/16 52:counterSelect7/16 54:counterSelect8/16 56:counterSelect9/16 "+
		"58:counterSelect10/16 60:counterSelect11/16 62:counterSelect12/16 64:counterSelect13/16 66:counterSelect14/16 68:rsv/32 "+
		"72:samplesOnlyOptionMask/64 80:rsv/896")
	// The tag and status of a sample, and its 15 counters.
	LayoutPortSamplesResult = layout("PortSamplesResult", 64, "0:tag/16 2.0:rsv/14 3.6:sampleStatus/2 4:counters/32x15")
)

// PerformanceData is where the attribute begins in a MAD of performance management: 40 reserved bytes precede it.
const PerformanceData = 64
