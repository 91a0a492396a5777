package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"ibwitness/packet"
	"ibwitness/rule"
)

// wrap breaks text at blanks into lines of at most width columns.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(printable(text)) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// printable takes control characters out of names that are in a capture, so that they cannot steer a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || r == ' ' {
			return r
		}
		if unicode.IsSpace(r) {
			return ' '
		}
		return '�'
	}, s)
}

// number writes 1234567 as 1,234,567.
func number[T ~int | ~uint64](n T) string {
	s := strconv.FormatUint(uint64(n), 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// count writes a number and its noun: "1 frame", "2 frames".
func count[T ~int | ~uint64](n T, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		return number(n) + " " + stem + "ies"
	}
	return number(n) + " " + noun + "s"
}

// size writes bytes as 3.1 MiB.
func size(n uint64) string {
	if n < 1024 {
		return strconv.FormatUint(n, 10) + " B"
	}
	units := "KMGTPE"
	f := float64(n) / 1024
	i := 0
	for f >= 1023.95 {
		f /= 1024
		i++
	}
	return fmt.Sprintf("%.1f %ciB", f, units[i])
}

// span writes a duration to four digits.
func span(d time.Duration) string {
	if d <= 0 {
		return "0 s"
	}
	digits := int(math.Floor(math.Log10(float64(d)))) - 3
	if digits > 0 {
		d = d.Round(time.Duration(math.Pow10(digits)))
	}
	return d.String()
}

// offset writes how long after the first frame something happened, in seconds.
func offset(ns, first int64) string {
	return fmt.Sprintf("%+.6f s", float64(ns-first)/1e9)
}

// qp writes a QPN as Wireshark and the drivers' tools do.
func qp(qpn uint32, known bool) string {
	if !known {
		return "QP ?"
	}
	return fmt.Sprintf("QP 0x%x", qpn)
}

// guid writes a GUID as the tools of OpenFabrics do; 0 is none.
func guid(n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("0x%016x", n)
}

// where names the port or node of one side of a finding: "10.0.0.1", `lid:3 "sw1" GUID 0x0002c90300001234`, `"sw1" GUID 0x0002c90300001234 directed route 0,1,3`.
func where(e *rule.Endpoint) string {
	var words []string
	if !e.Addr.IsZero() && e.Node.Route == "" {
		words = append(words, e.Addr.String())
	}
	if e.Node.Description != "" {
		words = append(words, strconv.Quote(e.Node.Description))
	}
	if e.Node.GUID != 0 {
		words = append(words, "GUID "+guid(e.Node.GUID))
	}
	if e.Node.Route != "" {
		words = append(words, "directed route "+e.Node.Route)
	}
	return strings.Join(words, " ")
}

// party names one side of a finding with its QP: "10.0.0.1 QP 0x11".
func party(e *rule.Endpoint) string {
	if !e.QPNKnown {
		return where(e)
	}
	return strings.TrimSpace(where(e) + " " + qp(e.QPN, true))
}

// accused names the accused with its role: "responder 10.0.0.1 QP 0x11".
func accused(f *rule.Finding) string {
	return strings.TrimSpace(f.Accused.Role.String() + " " + party(&f.Accused))
}

// frames lists frame numbers: "frame 3", "frames 3, 4 and 9".
func frames(list []uint64) string {
	const most = 8
	more := 0
	if len(list) > most {
		more = len(list) - most
		list = list[:most]
	}
	s := numerals(list)
	if more > 0 {
		s = append(s, fmt.Sprintf("%d more", more))
	}
	if len(s) == 1 {
		return "frame " + s[0]
	}
	return "frames " + enumerate(s)
}

// numerals writes frame numbers.
func numerals(list []uint64) []string {
	s := make([]string, len(list))
	for i, n := range list {
		s[i] = strconv.FormatUint(n, 10)
	}
	return s
}

// someHosts names the first of some hosts, in the order of their addresses, and says how many more there are.
func someHosts(list []packet.Addr) string {
	slices.SortFunc(list, packet.Addr.Compare)
	var names []string
	for _, a := range list[:min(len(list), quietTold)] {
		names = append(names, a.String())
	}
	if more := len(list) - quietTold; more > 0 {
		names = append(names, count(more, "more host"))
	}
	return enumerate(names)
}

// enumerate joins words: "a, b and c".
func enumerate(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// Party is an endpoint in words: its part, its address and its queue pair, as far as they are known.
func Party(e *rule.Endpoint) string { return party(e) }

// Size writes a number of bytes as a report does.
func Size(n uint64) string { return size(n) }
