package mad

// The attributes that general management classes share (table T15).
var (
	LayoutClassPortInfo = layout("ClassPortInfo", 72, "0:baseVersion/8 1:classVersion/8 2:capabilityMask/16 4.0:capabilityMask2/27 7.3:respTimeValue/5 "+
		"8:redirectGID/128 24:redirectTC/8 25.0:redirectSL/4 25.4:redirectFL/20 28:redirectLID/16 30:redirectPKey/16 32:rsv/8 33:redirectQP/24 "+
		"36:redirectQKey/32 40:trapGID/128 56:trapTC/8 57.0:trapSL/4 57.4:trapFL/20 60:trapLID/16 62:trapPKey/16 64:trapHL/8 65:trapQP/24 68:trapQKey/32")
	LayoutInformInfo = layout("InformInfo", 36, "0:GID/128 16:LIDRangeBegin/16 18:LIDRangeEnd/16 20:rsv/16 22:isGeneric/8 23:subscribe/8 24:type/16 "+
		"26:trapNumber/16 28:QPN/24 31.0:rsv/3 31.3:respTimeValue/5 32:rsv/8 33:producerType/24")
	LayoutNotice = layout("Notice", 64, "0.0:isGeneric/1 0.1:noticeType/7 1:nodeType/24 4:trapNumber/16 6:issuerLID/16 8.0:noticeToggle/1 "+
		"8.1:noticeCount/15 10:dataDetails/8x54")
)

// Traps that the subnet manager itself sends to subscribers (table T14).
const (
	TrapGIDInService     = 64
	TrapGIDOutOfService  = 65
	TrapMulticastCreated = 66
	TrapMulticastDeleted = 67
	TrapPathInvalid      = 68
	TrapPathValid        = 69
)

// NoticeGID is the GID that notices 64 to 67 are about: it follows 6 reserved bytes of the details. b is the notice; nil where it
// ends before the GID.
func NoticeGID(b []byte) []byte {
	if len(b) < 32 {
		return nil
	}
	return b[16:32]
}
