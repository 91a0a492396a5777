package conform

import (
	"fmt"
	"slices"
	"strings"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/subnet"
	"ibwitness/subnet/sma"
)

// surveyed is what a device says of itself.
type surveyed struct {
	kind     subnet.NodeType
	ports    int       // external ones
	first    int       // of its ports that have lanes: 0 of a switch with an enhanced port 0, else 1
	node     *exchange // NodeInfo
	port     *exchange // PortInfo of the managed port
	switched *exchange // SwitchInfo of a switch
}

// The first step of each test of subnet management, and what it is for.
const (
	surveyText   = "Get NodeInfo, PortInfo of port 0 and, of a switch, SwitchInfo: what the device is, and its M_Key, which all later requests have."
	keyQualifier = "the M_Key is 0, or PortInfo shows it"
)

// nodeSetup is the initialisation of the tests of subnet management.
var nodeSetup = []string{"Link the tester with port 1 of the device. Subnet management packets go by a directed route of one hop."}

// survey is the first step of a test: it looks what the device is, and whether the test is for it.
func (r *run) survey() *surveyed {
	m := r.manager
	r.at(1)
	s := &surveyed{node: m.get(mad.AttrNodeInfo, 0)}
	s.kind = subnet.NodeType(s.node.uint(mad.LayoutNodeInfo, "nodeType"))
	s.ports, s.first = int(s.node.uint(mad.LayoutNodeInfo, "numPorts")), 1
	s.port = m.get(mad.AttrPortInfo, 0)
	m.learn(s.port)
	isSwitch := s.kind == subnet.Switch
	switch {
	case r.test.Device == Switch && !isSwitch:
		r.inapplicable("NodeType is %d, %v, and the test is for switches", s.kind, s.kind)
	case r.test.Device == ChannelAdapter && isSwitch:
		r.inapplicable("NodeType is %d, %v, and the test is for channel adapters and routers", s.kind, s.kind)
	case isSwitch:
		if s.switched = m.get(mad.AttrSwitchInfo, 0); s.switched.uint(mad.LayoutSwitchInfo, "enhancedPort0") == 1 {
			s.first = 0
		}
	}
	return s
}

// uint is a component of the attribute that came.
func (x *exchange) uint(l *mad.Layout, name string) uint64 { return l.Field(name).Uint(x.Data) }

// capable reports whether a bit of CapabilityMask is 1.
func (s *surveyed) capable(bit uint64) bool {
	return s.port.uint(mad.LayoutPortInfo, "capabilityMask")&bit != 0
}

// lanes reports whether the device has several data lanes; else the test ends.
func (s *surveyed) needsLanes(r *run) {
	if !s.capable(sma.CapSLtoVL) {
		r.inapplicable("CapabilityMask %#x says that SLtoVLMappingTable is not supported", s.port.uint(mad.LayoutPortInfo, "capabilityMask"))
	}
}

// modifiers are those of PortInfo and LedInfo for the ports that the agent at hand can be asked for: the external ones of a switch, else 0 for its own.
func (s *surveyed) modifiers() []uint32 {
	if s.kind != subnet.Switch {
		return []uint32{0}
	}
	var list []uint32
	for port := range s.ports {
		list = append(list, uint32(port+1))
	}
	return list
}

// eachAgent does something at each port that has an agent of its own: at port 1 of a switch, else at one port after the other, with NodeInfo and PortInfo of it.
func (r *run) eachAgent(s *surveyed, do func(s *surveyed)) {
	if s.kind == subnet.Switch {
		do(s)
		return
	}
	for port := 1; port <= s.ports; port++ {
		r.manager.move(uint8(port))
		own := *s
		own.node, own.port = r.manager.get(mad.AttrNodeInfo, 0), r.manager.get(mad.AttrPortInfo, 0)
		do(&own)
	}
}

// What a request is answered with.
var (
	granted  = []int{0}
	noMethod = []int{int(mad.StatusAttribute >> 2)}
	badValue = []int{int(mad.StatusValue >> 2)}
	refusals = []int{1, 2, 3, 7}
)

// codesText says which status codes are meant.
func codesText(codes []int) string {
	switch {
	case len(codes) == 1:
		return fmt.Sprintf("status code %d", codes[0])
	case codes[0] == 0:
		return fmt.Sprintf("one of the status codes %v", codes)
	}
	return "a refusal: status code 1, 2, 3 or 7"
}

// what is the request of an exchange.
func (x *exchange) what() string {
	var s mad.SMP
	if s.Decode(x.sent.Payload) != nil {
		return "a request"
	}
	text := fmt.Sprintf("%v(%s)", s.Method, s.AttributeName())
	if s.Modifier != 0 {
		text += " with " + mad.ModifierText(s.Attribute, s.Modifier)
	}
	return text
}

// answered judges that a request was answered with one of some status codes, and returns whether it was. about says what is special in the request; it may be empty.
func (r *run) answered(id string, x *exchange, codes []int, about string) bool {
	what := x.what()
	if about != "" {
		what += ", " + about
	}
	switch {
	case x.got == nil:
		return r.check(id, false, codesText(codes), fmt.Sprintf("%s, each for %s, of %s", x.outcome(), exact(r.manager.wait), what), x.sent)
	case x.busy():
		r.open(id, fmt.Sprintf("busy, each of the %d times that it was asked: %s", busyTries, what), x.frames()...)
		return false
	}
	ok := slices.Contains(codes, x.code()) && (x.code() != 0 || x.Code() == 0)
	return r.check(id, ok, codesText(codes), fmt.Sprintf("%s to %s", x.outcome(), what), x.frames()...)
}

// silent judges that a request was not answered.
func (r *run) silent(id string, x *exchange, about string) bool {
	actual := "no answer in " + exact(r.manager.wait)
	if x.got != nil {
		actual = x.outcome()
	}
	return r.check(id, x.got == nil, "no answer", actual+" to "+x.what()+about, x.frames()...)
}

// equals judges that two attributes have the same components, but for some. what says what the second should be.
func (r *run) equals(id string, l *mad.Layout, want, got []byte, except []string, what string, frames ...*packet.Packet) bool {
	d := differs(l, want, got, except)
	return r.check(id, d == "", what, actually(d, "so it is"), frames...)
}

// differs says in what two attributes differ, but for some components; empty: in nothing.
func differs(l *mad.Layout, a, b []byte, except []string) string {
	var list []string
	for _, f := range l.Fields {
		if !slices.Contains(except, f.Name) && !f.Same(a, b) {
			list = append(list, fmt.Sprintf("%s %s in place of %s", f.Name, f.Text(b), f.Text(a)))
		}
	}
	return strings.Join(list, ", ")
}
