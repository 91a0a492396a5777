package replay

import (
	"os"
	"path/filepath"
	"strings"
)

// A monitor that is attached wrongly finds nothing, and says so where it ends: frames of the wrong order of bytes, a device that another has the address of, a tap that nothing has
// come of.
func (s *simulation) doubts() {
	s.t.Helper()
	says := func(want ...string) {
		s.t.Helper()
		out, status := s.run()
		if n := strings.Count(out, "ibwitness:"); status != 0 || n != len(want) {
			s.t.Errorf("exit status %d, and it should say %q only:\n%s", status, want, out)
		}
		for _, w := range want {
			if !strings.Contains(strings.ToLower(out), "warning") || !strings.Contains(out, w) {
				s.t.Errorf("it should say %q:\n%s", w, out)
			}
		}
	}
	s.load(clean)
	name := filepath.Join(s.dir, "ibw.json")
	config, err := os.ReadFile(name)
	if err != nil {
		s.t.Fatal(err)
	}
	write(s.t, name, strings.ReplaceAll(string(config), "10.0.0.1", "10.0.0.77"))
	says("no packet is to or from 10.0.0.77, which the taps are said to be near: look at the addresses of the device")
	write(s.t, name, string(config))
	played := filepath.Join(s.dir, "replay.txt")
	text, err := os.ReadFile(played)
	if err != nil {
		s.t.Fatal(err)
	}
	var turned strings.Builder
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		for i, j := 3, len(fields)-1; i < j; i, j = i+1, j-1 {
			fields[i], fields[j] = fields[j], fields[i]
		}
		turned.WriteString(strings.Join(fields, " ") + "\n")
	}
	write(s.t, played, turned.String())
	says("none of the frames that have come is of InfiniBand or RoCE: look at the order of their bytes, and whether they begin with the link header")
	write(s.t, played, "")
	says(`no whole frame has come at "dut.rx": look at`, `no whole frame has come at "dut.tx": look at`)
}
