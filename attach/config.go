package attach

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"ibwitness/fabricagent"
	"ibwitness/internal/view/report"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier"
)

// Config is the configuration of a run, as JSON. docs/attach.md describes it.
type Config struct {
	Name    string            `json:"name"`    // of the test, for reports
	Taps    []TapConfig       `json:"taps"`    // none: one that is near nobody
	HCAs    []HCAConfig       `json:"hcas"`    // whose verbs events come
	Profile []string          `json:"profile"` // what devices do otherwise than the standard, on purpose
	Waive   []Waiver          `json:"waive"`
	Tell    string            `json:"tell"`    // which findings are told: error, warning (default), unproven or event, each with those before it
	Max     int               `json:"max"`     // findings of a rule that are told; 0: all
	FailOn  string            `json:"fail_on"` // for the verdict of the reports: error (default), warning or never
	Time    string            `json:"time"`    // simulation (default): picoseconds from its beginning; unix: nanoseconds since the Unix epoch, which may go back
	Record  string            `json:"record"`  // pcapng of all frames, as they come
	Reports map[string]string `json:"reports"` // file of each format
	Signals *bool             `json:"signals"` // false: the library in C catches no signals. By default those that would end the program leave complete reports
	All     bool              `json:"all"`     // reports show every finding, connection and rule
}

// TapConfig is a place where frames are seen.
type TapConfig struct {
	Name      string   `json:"name"`
	Interface string   `json:"interface"` // of the tap, where its name is that of a capture file with several
	Near      nearList `json:"near"`      // addresses of the device at whose port the tap is: what it shows leaving there was sent
	Link      linkName `json:"link"`      // ethernet (default), infiniband (from LRH through VCRC), link (with link packets, docs/link.md), raw (from the IP header on), or the number of a link type
	ICRC      string   `json:"icrc"`      // check (default); absent: the four bytes are not there yet; ignore: they are, with any value
	SymbolPS  uint16   `json:"symbol_ps"` // of a link: how long a symbol takes, picoseconds
	LinkID    uint16   `json:"link_id"`   // of a link: its number
	SnapLen   uint32   `json:"snaplen"`
	Speed     uint64   `json:"speed"` // bit/s
}

// HCAConfig is a channel adapter whose verbs events come.
type HCAConfig struct {
	Name string `json:"name"`
	GID  string `json:"gid"` // IP address, GID or lid:NUMBER
}

// Waiver says which violations are no errors, and why.
type Waiver = rule.Waiver

// nearList is one address or a list of them.
type nearList []string

// UnmarshalJSON reads a string or a list of strings.
func (n *nearList) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*n = nil
		if one != "" {
			*n = nearList{one}
		}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(n))
}

// linkName is the name or number of a link type.
type linkName fabricagent.LinkType

var links = map[string]fabricagent.LinkType{
	"": fabricagent.LinkEthernet, "ethernet": fabricagent.LinkEthernet, "infiniband": fabricagent.LinkInfiniBand,
	"link": fabricagent.LinkTap, "raw": fabricagent.LinkRaw,
}

// UnmarshalJSON reads a name or a number.
func (l *linkName) UnmarshalJSON(text []byte) error {
	var number uint16
	if json.Unmarshal(text, &number) == nil {
		*l = linkName(number)
		return nil
	}
	var name string
	if err := json.Unmarshal(text, &name); err != nil {
		return errors.New(`"link" is neither a name nor a number: give ethernet, infiniband, link or raw`)
	}
	t, ok := links[name]
	if !ok {
		return fmt.Errorf(`"link" is %q: give ethernet, infiniband, link, raw, or the number of a link type`, name)
	}
	*l = linkName(t)
	return nil
}

// Environment is the variable that names a file whose content takes the place of a configuration.
const Environment = "IBWITNESS_CONFIG"

// parse reads a configuration, or that which the environment names.
func parse(text []byte) (c Config, err error) {
	from := "configuration"
	if name := os.Getenv(Environment); name != "" {
		from = name
		if text, err = os.ReadFile(name); err != nil {
			return c, fmt.Errorf("attach: %s: %w: name a file that can be read, or unset it", Environment, err)
		}
	}
	if len(bytes.TrimSpace(text)) > 0 {
		if err := strict(text, &c); err != nil {
			return c, fmt.Errorf("attach: %s: %w", from, err)
		}
	}
	if len(c.Taps) == 0 {
		c.Taps = []TapConfig{{Name: "port", Link: linkName(fabricagent.LinkEthernet)}}
	}
	return c, nil
}

// strict reads one JSON object into v, and refuses fields that v does not have.
func strict(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			return errors.New("there is something after the JSON object: give one only")
		}
		return nil
	}
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		line := 1 + bytes.Count(text[:min(int(syntax.Offset), len(text))], []byte("\n"))
		return fmt.Errorf("no JSON, line %d: %w", line, err)
	case errors.As(err, &typ):
		return fmt.Errorf("%q is a JSON %s: docs/attach.md says what it holds", typ.Field, typ.Value)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("the JSON breaks off: give a whole object")
	}
	name, ok := strings.CutPrefix(err.Error(), "json: unknown field ")
	if ok {
		return fmt.Errorf("there is no field %s: docs/attach.md lists them", name)
	}
	return err
}

// tell is which findings are told.
type tell uint8

const (
	tellErrors tell = iota
	tellWarnings
	tellUnproven
	tellEvents
)

// settings is a configuration that was understood.
type settings struct {
	Config
	profile verifier.Profile
	words   []string // that it was made of
	near    []packet.Addr
	devices []packet.Addr // of the HCAs
	tell    tell
	failOn  report.FailOn
	unix    bool
	waivers rule.Waivers
}

// settle checks a configuration, and returns its taps.
func settle(c Config) (s settings, taps []tap, err error) {
	s.Config = c
	s.words = c.Profile
	if c.Time != "unix" {
		s.words = append([]string{"hardware-timers"}, s.words...) // in a simulation no operating system counts them
	}
	if s.profile, err = verifier.ParseProfile(s.words...); err != nil {
		return s, nil, fmt.Errorf(`attach: "profile": %w`, err)
	}
	for i := range c.Taps {
		if c.Taps[i].Name == "" {
			c.Taps[i].Name = fmt.Sprintf("tap %d", i)
		}
		t, err := c.Taps[i].tap()
		if err != nil {
			return s, nil, err
		}
		taps = append(taps, t)
		for _, a := range t.near {
			if !slices.Contains(s.near, a) {
				s.near = append(s.near, a)
			}
		}
	}
	for i, h := range c.HCAs {
		a, err := packet.ParseAddr(h.GID)
		if err != nil {
			return s, nil, fmt.Errorf(`attach: "hcas", number %d: "gid" is %q: give an IP address, a GID or lid:NUMBER`, i, h.GID)
		}
		if slices.Contains(s.devices, a) {
			return s, nil, fmt.Errorf(`attach: "hcas", number %d: %v is there twice: give each device once`, i, a)
		}
		s.devices = append(s.devices, a)
	}
	return s, taps, s.choices()
}

// choices checks what a configuration chooses from lists.
func (s *settings) choices() (err error) {
	switch s.Tell {
	case "error":
		s.tell = tellErrors
	case "", "warning":
		s.tell = tellWarnings
	case "unproven":
		s.tell = tellUnproven
	case "event":
		s.tell = tellEvents
	default:
		return fmt.Errorf(`attach: "tell" is %q: give error, warning, unproven or event`, s.Tell)
	}
	if s.FailOn != "" {
		if s.failOn, err = report.ParseFailOn(s.FailOn); err != nil {
			return fmt.Errorf(`attach: "fail_on" is %q: give error, warning or never`, s.FailOn)
		}
	}
	switch s.Time {
	case "", "simulation":
	case "unix":
		s.unix = true
	default:
		return fmt.Errorf(`attach: "time" is %q: give simulation (picoseconds from its beginning) or unix (nanoseconds since the Unix epoch)`, s.Time)
	}
	if s.Max < 0 {
		return fmt.Errorf(`attach: "max" is %d: give how many findings of a rule are told, or 0 for all`, s.Max)
	}
	for format := range s.Reports {
		if !slices.Contains(Formats(), format) {
			return fmt.Errorf(`attach: "reports": there is no format %q: give one of %s`, format, strings.Join(Formats(), ", "))
		}
	}
	if s.waivers, err = rule.NewWaivers(s.Waive); err != nil {
		return fmt.Errorf(`attach: "waive": %w`, err)
	}
	return nil
}

// tap checks the description of a tap.
func (c TapConfig) tap() (t tap, err error) {
	if c.Link == 0 {
		c.Link = linkName(fabricagent.LinkEthernet)
	}
	for _, s := range c.Near {
		a, err := packet.ParseAddr(s)
		if err != nil {
			return t, fmt.Errorf(`attach: tap %q: "near" is %q: give an IP address, a GID or lid:NUMBER`, c.Name, s)
		}
		t.near = append(t.near, a)
	}
	switch c.ICRC {
	case "", "check", "absent", "ignore":
	default:
		return t, fmt.Errorf(`attach: tap %q: "icrc" is %q: give check, absent or ignore`, c.Name, c.ICRC)
	}
	t.TapConfig = c
	t.absent = c.ICRC == "absent"
	t.seal = t.absent || c.ICRC == "ignore"
	return t, nil
}
