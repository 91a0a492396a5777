package conform

import (
	"bytes"
	"fmt"
	"slices"

	"ibwitness/mad"
)

// setting is an attribute whose components a test sets one after the other.
type setting struct {
	r        *run
	a        mad.Attribute
	layout   *mad.Layout
	modifier uint32
	was      []byte // as it is read before the Sets
	came     *exchange
	steady   []string // components that change without a Set, or have a meaning of their own in it

	// Assertions, empty where the test does not have it: that Get and legal Sets are answered with status code 0, that read-only components stay, that legal values
	// are stored, that illegal ones are refused and change nothing.
	answered, readOnly, stored, refused string
}

// begin reads the attribute; the test ends where it is not read.
func (t *setting) begin() {
	x := t.r.manager.ask(mad.Get, t.a, t.modifier, nil)
	if t.answered != "" {
		t.r.answered(t.answered, x, granted, "")
	}
	if !x.succeeded() {
		t.r.halt("%s is not answered with status code 0", x.what())
	}
	t.came, t.was = x, slices.Clone(x.Data)
}

// change is a value of a component.
type change struct {
	name  string
	value uint64
}

func (c change) String() string { return fmt.Sprintf("%s %d", c.name, c.value) }

// set sends a Set with components changed.
func (t *setting) set(list ...change) *exchange {
	data := bytes.Clone(t.was)
	values := map[string]uint64{}
	for _, c := range list {
		values[c.name] = c.value
	}
	changed(t.layout, data, values)
	return t.r.manager.ask(mad.Set, t.a, t.modifier, data)
}

func (t *setting) get() *exchange { return t.r.manager.get(t.a, t.modifier) }

// legal sets components to legal values: the answer and the next Get have them, or want where that is not nil, and what is read-only stays.
func (t *setting) legal(want []change, list ...change) {
	r := t.r
	about := fmt.Sprintf("%v", list)
	x := t.set(list...)
	if !r.answered(t.answered, x, granted, about) {
		return
	}
	now := t.get()
	if want == nil {
		want = list
	}
	for _, c := range want {
		f := t.layout.Field(c.name)
		sent, later := f.Uint(x.Data), f.Uint(now.Data)
		r.check(t.stored, sent == c.value && later == c.value, fmt.Sprintf("%v after a Set of %s", c, about),
			fmt.Sprintf("%d in the answer, %d in the next Get", sent, later), x.sent, x.got, now.got)
	}
	t.readOnlyKept(now, x)
}

// readOnlyKept judges that the read-only components are what they were.
func (t *setting) readOnlyKept(now, x *exchange) {
	if t.readOnly != "" {
		t.r.equals(t.readOnly, t.layout, t.was, now.Data, append(t.writable(), t.steady...), "read-only components as before the Set", t.came.got, x.sent, now.got)
	}
}

// writable are the read-write components.
func (t *setting) writable() []string {
	if t.a == mad.AttrSwitchInfo {
		return []string{
			"linearFDBTop", "defaultPort", "defaultMulticastPrimaryPort", "defaultMulticastNotPrimaryPort", "lifeTimeValue", "portStateChange",
			"optimizedSLtoVLMappingProgramming", "multicastFDBTop",
		}
	}
	return []string{
		"MKey", "GIDPrefix", "LID", "masterSMLID", "MKeyLeasePeriod", "linkWidthEnabled", "linkSpeedEnabled", "portState", "portPhysicalState", "linkDownDefaultState",
		"MKeyProtectBits", "LMC", "neighborMTU", "masterSMSL", "VLHighLimit", "initTypeReply", "VLStallCount", "HOQLife", "operationalVLs", "partitionEnforcementInbound",
		"partitionEnforcementOutbound", "filterRawInbound", "filterRawOutbound", "MKeyViolations", "PKeyViolations", "QKeyViolations", "clientReregister",
		"multicastPKeyTrapSuppressionEnabled", "subnetTimeOut", "localPhyErrors", "overrunErrors", "linkSpeedExtEnabled",
	}
}

// fixed sets a read-only component with its highest bit inverted: the Set is taken, and it stays.
func (t *setting) fixed(name string) {
	r, f := t.r, t.layout.Field(name)
	was := f.Uint(t.was)
	c := change{name, was ^ 1<<(f.Bits-1)}
	x := t.set(c)
	if !r.answered(t.answered, x, granted, c.String()) {
		return
	}
	now := t.get()
	kept := r.check(t.readOnly, f.Uint(x.Data) == was && f.Uint(now.Data) == was, fmt.Sprintf("%s %d as before", name, was),
		fmt.Sprintf("%d in the answer, %d in the next Get", f.Uint(x.Data), f.Uint(now.Data)), x.sent, x.got, now.got)
	if !kept {
		t.restore()
	}
	if t.stored != "" {
		r.equals(t.stored, t.layout, t.was, now.Data, append(append(t.steady, "portStateChange"), t.constant()...), "read-write components as they were set", x.sent, now.got)
	}
}

// constant are the components that are not read-write.
func (t *setting) constant() (list []string) {
	for _, f := range t.layout.Fields {
		if !slices.Contains(t.writable(), f.Name) {
			list = append(list, f.Name)
		}
	}
	return list
}

// illegal sets components to values of which one is illegal: the Set is refused with status code 7, and nothing changes.
func (t *setting) illegal(list ...change) {
	r := t.r
	x := t.set(list...)
	ok := r.answered(t.refused, x, badValue, fmt.Sprintf("%v", list))
	now := t.get()
	if ok {
		ok = r.equals(t.refused, t.layout, t.was, now.Data, t.steady, fmt.Sprintf("all as before the Set of %v", list), x.sent, x.got, now.got)
	}
	if t.readOnly != "" {
		t.readOnlyKept(now, x)
	}
	if !ok {
		t.restore()
	}
}

// restore sets all to what it was.
func (t *setting) restore() { t.r.manager.ask(mad.Set, t.a, t.modifier, t.restored()) }

func (t *setting) restored() []byte {
	data := bytes.Clone(t.was)
	changed(t.layout, data, nil)
	return data
}
