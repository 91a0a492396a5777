package conform

import (
	"strconv"

	"ibwitness/mad"
)

// M_Keys that the tester gives a device, and that it does not have.
const (
	testerKey = 0x0102_0304_0506_0708
	otherKey  = 0x1112_1314_1516_1718
)

// guard is how a device checks M_Keys.
type guard struct{ key, protect, lease uint64 }

// guard sets M_Key, protect bits and lease period of the device by one Set, and no M_Key violations; the test ends where it is not taken. All later requests have the key.
func (m *manager) guard(g guard) *exchange {
	data := append([]byte(nil), m.get(mad.AttrPortInfo, 0).Data...)
	values := map[string]uint64{"MKey": g.key, "MKeyProtectBits": g.protect, "MKeyLeasePeriod": g.lease, "MKeyViolations": 0, "LID": m.lid(), "masterSMLID": testerLID}
	changed(mad.LayoutPortInfo, data, values)
	x := m.ask(mad.Set, mad.AttrPortInfo, 0, data)
	if !x.succeeded() {
		m.r.halt("a Set of the M_Key is not taken: %s", x.outcome())
	}
	m.key = g.key
	return x
}

// unguard sets M_Key, protect bits and lease period to what they were when the test began, and no M_Key violations.
func (m *manager) unguard() { m.guard(m.was) }

// decimal writes a number.
func decimal(v uint64) string { return strconv.FormatUint(v, 10) }
