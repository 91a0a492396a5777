package mad

// The attributes of congestion control (class 0x21, annex A10).
const (
	AttrCongestionInfo              Attribute = 0x11
	AttrCongestionKeyInfo           Attribute = 0x12
	AttrCongestionLog               Attribute = 0x13
	AttrSwitchCongestionSetting     Attribute = 0x14
	AttrSwitchPortCongestionSetting Attribute = 0x15
	AttrCACongestionSetting         Attribute = 0x16
	AttrCongestionControlTable      Attribute = 0x17
	AttrCongestionTimeStamp         Attribute = 0x18
)

// Where the parts of a MAD of congestion control begin.
const (
	CongestionKey  = 24 // 8 bytes
	CongestionLog  = 32 // log data, 32 bytes
	CongestionData = 64 // the attribute, 192 bytes
)

// CongestionVersion is the class version of congestion control.
const CongestionVersion = 2

// congestionAttributes tells, by attribute, its name and whether it may be set.
var congestionAttributes = map[Attribute]struct {
	name string
	set  bool
}{
	0x01: {"ClassPortInfo", true}, 0x02: {"Notice", true},
	AttrCongestionInfo: {"CongestionInfo", false}, AttrCongestionKeyInfo: {"CongestionKeyInfo", true}, AttrCongestionLog: {"CongestionLog", false},
	AttrSwitchCongestionSetting: {"SwitchCongestionSetting", true}, AttrSwitchPortCongestionSetting: {"SwitchPortCongestionSetting", true},
	AttrCACongestionSetting: {"CACongestionSetting", true}, AttrCongestionControlTable: {"CongestionControlTable", true},
	AttrCongestionTimeStamp: {"TimeStamp", false},
}

// CongestionAttribute is the name of an attribute of congestion control, or "" where there is none, and whether it may be set.
func CongestionAttribute(a Attribute) (name string, set bool) {
	k := congestionAttributes[a]
	return k.name, k.set
}
