// Package extcap is what Wireshark's external capture programs say and do (extcap(4)): it lists interfaces, and writes frames to a pipe with the findings
// as their comments.
package extcap

import (
	"fmt"
	"io"
	"net"
	"strings"
)

// name begins the names by which Wireshark knows the interfaces.
const name = "ibwitness-"

// Interfaces lists what may be captured from.
func Interfaces(w io.Writer, version string) error {
	list, err := net.Interfaces()
	if err != nil {
		return fmt.Errorf("extcap: %w", err)
	}
	fmt.Fprintf(w, "extcap {version=%s}{display=ibwitness, a protocol witness for InfiniBand and RoCE}\n", clean(version))
	for _, i := range list {
		if i.Flags&net.FlagUp != 0 && (len(i.HardwareAddr) == 6 || i.Flags&net.FlagLoopback != 0) {
			fmt.Fprintf(w, "interface {value=%s%s}{display=ibwitness: %s}\n", name, clean(i.Name), clean(i.Name))
		}
	}
	return nil
}

// Interface is the network interface of one that Interfaces has listed.
func Interface(value string) (string, error) {
	s, ok := strings.CutPrefix(value, name)
	if !ok || s == "" {
		return "", fmt.Errorf("extcap: %q is no interface of this program: --extcap-interfaces lists them", value)
	}
	return s, nil
}

// Links lists the kinds of frames of an interface.
func Links(w io.Writer) {
	fmt.Fprintln(w, "dlt {number=1}{name=EN10MB}{display=Ethernet}")
}

// Config lists what may be set.
func Config(w io.Writer) {
	for i, s := range []string{
		"{call=--near}{display=Near}{type=string}{tooltip=Addresses of this end, if the interface is its own: what is not seen of it was not sent, and more can be proven}",
		"{call=--promiscuous}{display=Frames for other machines too}{type=boolflag}{default=true}{tooltip=As behind a mirror port}",
		"{call=--events}{display=Comment legal events too}{type=boolflag}{default=false}{tooltip=Retransmissions, NAKs and the like}",
	} {
		fmt.Fprintf(w, "arg {number=%d}%s\n", i, s)
	}
}

// clean takes out what would end a value.
func clean(s string) string { return strings.NewReplacer("{", "", "}", "", "\n", "").Replace(s) }
