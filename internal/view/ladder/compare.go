package ladder

import (
	"regexp"
	"strings"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/rule"
)

// words are how findings name the fields of a packet: what precedes a value, and what names the field where no value is given.
var words = []struct {
	key   key
	value *regexp.Regexp // its first group is the value
	named string
}{
	{keyPSN, word("PSN", `0x[0-9a-f]+`), ""},
	{keyMSN, word("MSN", `\d+`), ""},
	{keyPKey, word("P_Key", `0x[0-9a-f]+`), "P_Key"},
	{keyQKey, word("Q_Key", `0x[0-9a-f]+`), "Q_Key"},
	{keyRKey, word("R_Key", `0x[0-9a-f]+`), "R_Key"},
	{keyVA, word("VA", `0x[0-9a-f]+`), "virtual address"},
	{keyDMALen, word("DMALen", `\d+`), "DMALen"},
	{keyTVer, word("TVer", `\d+`), ""},
	{keyPadCnt, word("PadCnt", `\d+`), "pad"},
	{keyAckReq, word("AckReq", `\d+`), ""},
	{keySE, word("SE", `\d+|true|false`), ""},
	{keyDestQP, word("DestQP", `0x[0-9a-f]+`), ""},
	{keySyndrome, word("syndrome", `0x[0-9a-f]+`), "syndrome"},
	{keyDSCP, word("DSCP", `\d+`), ""},
	{keyFlow, word("flow label", `0x[0-9a-f]+`), ""},
	{keyFlags, word("flags", `\d+`), ""},
	{keyFragment, word("fragment offset", `\d+`), "fragmented"},
	{keyTotal, word("Total Length", `\d+`), "Total Length"},
	{keyPayLen, word("(?:PayLen|Payload Length)", `\d+`), "PayLen"},
	{keyUDPLen, word("UDP length", `\d+`), ""},
	{keySrcPort, word("(?:UDP source )?port", `\d+`), ""},
	{keySLID, word("SLID", `0x[0-9a-f]+`), "SLID"},
	{keyDLID, word("DLID", `0x[0-9a-f]+`), "DLID"},
	{keyPktLen, word("PktLen", `\d+`), "PktLen"},
	{keyICRC, regexp.MustCompile(`\bICRC ([0-9a-fx…]+)`), "ICRC"},
	{keyPayload, regexp.MustCompile(`\b(\d+) bytes`), "payload"},
}

func word(name, value string) *regexp.Regexp {
	return regexp.MustCompile(`\b` + name + ` (` + value + `)`)
}

// syndromes is how findings name what an AETH says.
var syndromes = regexp.MustCompile(`\b(?:RNR NAK|NAK|ACK)\b`)

// differences finds the fields that a finding says are not as expected, and notes at each what was: those of its comparison or, where it has none, those that its
// texts name.
func differences(f *rule.Finding, list []Layer) []Difference {
	if f.Comparison != nil {
		return compared(f.Comparison, list)
	}
	return told(f, list)
}

// compared finds the fields that differ in a comparison.
func compared(c *expect.Comparison, list []Layer) []Difference {
	out := []Difference{}
	for _, d := range c.Differ() {
		out = append(out, Difference{d.Layer, d.Name, d.Expected, d.Actual})
		if fd := shown(list, &d); fd != nil && fd.Expected == "" {
			fd.Expected = d.Expected
		}
	}
	return out
}

// shown is the field of a packet that a field of a comparison is, or is a part of; nil: it is not shown.
func shown(list []Layer, d *expect.Field) *Field {
	for i := range list {
		for j := range list[i].Fields {
			fd := &list[i].Fields[j]
			if list[i].Name == d.Layer && (fd.Name == d.Name || fd.At >= 0 && fd.At <= d.At && d.At+d.Size <= fd.At+fd.Size) {
				return fd
			}
		}
	}
	return nil
}

// told finds the fields that the texts of a finding name. A field counts only where it is named on both sides: that a packet is told by its PSN does not make the
// PSN wrong.
func told(f *rule.Finding, list []Layer) []Difference {
	out := []Difference{}
	mark := func(k key, expected string) { out = append(out, unlike(list, k, expected)...) }
	if want, have := opcodeIn(f.Expected), opcodeIn(f.Actual); want != "" && have != "" && want != have && strings.HasPrefix(f.Expected, want) {
		mark(keyOpcode, want)
	}
	for i := range words {
		w := &words[i]
		have := w.value.FindStringSubmatch(f.Actual)
		if have == nil {
			continue
		}
		want := w.value.FindStringSubmatch(f.Expected)
		switch {
		case want != nil && want[1] == have[1]:
		case want != nil:
			mark(w.key, f.Expected)
		case w.named != "" && strings.Contains(f.Expected, w.named):
			mark(w.key, f.Expected)
		}
	}
	if syndromes.MatchString(f.Actual) && (syndromes.MatchString(f.Expected) || strings.Contains(f.Expected, "credit")) {
		mark(keySyndrome, f.Expected)
	}
	return out
}

// unlike says of the first field of a kind that has no expected value yet what that is, and returns it; nothing where there is none.
func unlike(list []Layer, k key, expected string) []Difference {
	for i := range list {
		for j := range list[i].Fields {
			if fd := &list[i].Fields[j]; fd.key == k && fd.Expected == "" {
				fd.Expected = expected
				return []Difference{{list[i].Name, fd.Name, expected, fd.Value}}
			}
		}
	}
	return nil
}

// opcodeIn returns the name of the opcode in a text, or "".
func opcodeIn(text string) string {
	longest := ""
	for o := range 256 {
		in := packet.Opcode(o).Info()
		if in.Defined && len(in.Name) > len(longest) && strings.Contains(text, in.Name) {
			longest = in.Name
		}
	}
	return longest
}
