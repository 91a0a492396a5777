package cli

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPath: what the packets of a queue pair have in common on their way is told: DSCP, VLAN, PCP and UDP source port.
func TestPath(t *testing.T) {
	whole, err := os.ReadFile("../../testdata/captures/rnr_retry_exceeded.pcap")
	if err != nil {
		t.Fatal(err)
	}
	const dscp, vlan, pcp = 26, 100, 3
	out := append([]byte(nil), whole[:24]...)
	for rest := whole[24:]; len(rest) > 0; {
		n := binary.LittleEndian.Uint32(rest[8:])
		head, frame := rest[:16], rest[16:16+n]
		rest = rest[16+n:]
		out = binary.LittleEndian.AppendUint64(append(out, head[:8]...), uint64(n+4)<<32|uint64(n+4))
		out = append(out, frame[:12]...)
		out = binary.BigEndian.AppendUint32(out, 0x8100<<16|pcp<<13|vlan)
		ip := len(out) + 2
		out = append(out, frame[12:]...)
		if frame[12] == 8 { // IPv4
			out[ip+1] |= dscp << 2
			binary.BigEndian.PutUint16(out[ip+10:], 0) // without a checksum
		}
	}
	tagged := filepath.Join(t.TempDir(), "tagged.pcap")
	if err := os.WriteFile(tagged, out, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, out, errs := run(t, "check", "--fail-on", "never", "--format", "json", tagged); strings.Count(out, `"path":{"dscp":26,"udp_source_port":51784,"p_key":"0xffff","vlan":100,"pcp":3}`) != 2 {
		t.Errorf("%s%s", out, errs)
	}
	_, text, errs := run(t, "check", "--fail-on", "never", "--all", tagged)
	_, text, _ = strings.Cut(text, "Settings and paths\n")
	text, _, _ = strings.Cut(text, "\n\n")
	if strings.Count(text, " 26 ") != 2 || strings.Count(text, " 100/3 ") != 2 {
		t.Errorf("%s%s", text, errs)
	}
	if _, out, _ := run(t, "check", "--fail-on", "never", "--format", "json", "../../testdata/captures/rnr_retry_exceeded.pcap"); !strings.Contains(out, `"path":{"dscp":0,`) || strings.Contains(out, `"vlan"`) {
		t.Error(out)
	}
}
