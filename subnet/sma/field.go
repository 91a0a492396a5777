package sma

import "ibwitness/mad"

func pi(name string) mad.Field { return mad.LayoutPortInfo.Field(name) }

func si(name string) mad.Field { return mad.LayoutSwitchInfo.Field(name) }

// Components of PortInfo and SwitchInfo (table T12).
var (
	piMKey        = pi("MKey")
	piPrefix      = pi("GIDPrefix")
	piLID         = pi("LID")
	piSMLID       = pi("masterSMLID")
	piCapability  = pi("capabilityMask")
	piLease       = pi("MKeyLeasePeriod")
	piLocalPort   = pi("localPortNum")
	piWidthOn     = pi("linkWidthEnabled")
	piWidthCap    = pi("linkWidthSupported")
	piWidth       = pi("linkWidthActive")
	piSpeedCap    = pi("linkSpeedSupported")
	piState       = pi("portState")
	piPhysical    = pi("portPhysicalState")
	piDownDefault = pi("linkDownDefaultState")
	piProtect     = pi("MKeyProtectBits")
	piLMC         = pi("LMC")
	piSpeed       = pi("linkSpeedActive")
	piSpeedOn     = pi("linkSpeedEnabled")
	piMTU         = pi("neighborMTU")
	piSMSL        = pi("masterSMSL")
	piVLCap       = pi("VLCap")
	piHighCap     = pi("VLArbitrationHighCap")
	piLowCap      = pi("VLArbitrationLowCap")
	piMTUCap      = pi("MTUCap")
	piVLs         = pi("operationalVLs")
	piMKeyBad     = pi("MKeyViolations")
	piPKeyBad     = pi("PKeyViolations")
	piQKeyBad     = pi("QKeyViolations")
	piGUIDCap     = pi("GUIDCap")
	piReregister  = pi("clientReregister")
	piTimeout     = pi("subnetTimeOut")
	piRespTime    = pi("respTimeValue")

	piHOQLife = pi("HOQLife")

	siLinearTop     = si("linearFDBTop")
	siDefault       = si("defaultPort")
	siPrimary       = si("defaultMulticastPrimaryPort")
	siNotPrimary    = si("defaultMulticastNotPrimaryPort")
	siLifeTime      = si("lifeTimeValue")
	siChange        = si("portStateChange")
	siMulticastTop  = si("multicastFDBTop")
	siOptimized     = si("optimizedSLtoVLMappingProgramming")
	siEnhancedPort0 = si("enhancedPort0")
)

// enforcement is partition enforcement in one direction.
type enforcement struct{ mad.Field }

var (
	piEnforceIn  = enforcement{pi("partitionEnforcementInbound")}
	piEnforceOut = enforcement{pi("partitionEnforcementOutbound")}
)

// States of a port (PortInfo:PortState, section 7.2.7).
const (
	Down       = 1
	Initialize = 2
	Armed      = 3
	Active     = 4
)

// Physical states of a port (PortInfo:PortPhysicalState).
const (
	sleep    = 1
	polling  = 2
	disabled = 3
	linkUp   = 5
)
