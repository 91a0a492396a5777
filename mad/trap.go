package mad

import "fmt"

// Notice producers (section 13.4.8.2).
const (
	ProducerCA      = 1
	ProducerSwitch  = 2
	ProducerRouter  = 3
	ProducerManager = 4
)

// Traps of subnet management (table T14); those of the subnet manager are in general.go.
const (
	TrapLinkState        = 128
	TrapLinkIntegrity    = 129
	TrapBufferOverrun    = 130
	TrapFlowControl      = 131
	TrapCapability       = 144
	TrapSystemImage      = 145
	TrapBadMKey          = 256
	TrapBadPKey          = 257
	TrapBadQKey          = 258
	TrapBadPKeySwitch    = 259
	lastNoticeType       = 4 // informational
	noticeTypeMaskOfByte = 0x7F
)

var trapNames = map[uint16]string{
	TrapGIDInService: "GID in service", TrapGIDOutOfService: "GID out of service", TrapMulticastCreated: "multicast group created",
	TrapMulticastDeleted: "multicast group deleted", TrapPathInvalid: "path no longer valid", TrapPathValid: "path valid again",
	TrapLinkState: "link state change", TrapLinkIntegrity: "local link integrity", TrapBufferOverrun: "buffer overrun",
	TrapFlowControl: "flow control watchdog", TrapCapability: "capabilities changed", TrapSystemImage: "system image GUID changed",
	TrapBadMKey: "bad M_Key", TrapBadPKey: "bad P_Key", TrapBadQKey: "bad Q_Key", TrapBadPKeySwitch: "bad P_Key at a switch port",
}

// TrapName names a generic trap number of table T14, or returns its number.
func TrapName(n uint16) string {
	if s := trapNames[n]; s != "" {
		return fmt.Sprintf("trap %d (%s)", n, s)
	}
	return fmt.Sprintf("trap %d", n)
}

// TrapProducer reports whether the trap number is in table T14, and whether nodes of a kind send it.
func TrapProducer(n uint16, producer uint32) (defined, may bool) {
	switch n {
	case TrapGIDInService, TrapGIDOutOfService, TrapMulticastCreated, TrapMulticastDeleted, TrapPathInvalid, TrapPathValid:
		return true, producer == ProducerManager
	case TrapLinkState, TrapBadPKeySwitch:
		return true, producer == ProducerSwitch
	case TrapLinkIntegrity, TrapBufferOverrun, TrapFlowControl, TrapCapability, TrapSystemImage, TrapBadMKey, TrapBadPKey, TrapBadQKey:
		return true, producer >= ProducerCA && producer <= ProducerRouter
	}
	return false, false
}

// NoticeTypeDefined reports whether the type of a notice is one of fatal, urgent, security, subnet management, informational.
func NoticeTypeDefined(t uint8) bool { return t&noticeTypeMaskOfByte <= lastNoticeType }
