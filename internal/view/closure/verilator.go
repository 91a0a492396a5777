package closure

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// ItemsFile is the file that lines of verilator_coverage are about: what `ibwitness coverage list` prints, a line an item.
const ItemsFile = "ibwitness.items"

// verilator writes lines as verilator_coverage reads them: pairs of a key between 0x01 and 0x02 and a value, then a count.
func (s *Summary) verilator(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString("# SystemC::Coverage-3\n")
	for i := range s.Targets {
		t := &s.Targets[i]
		line := place(t.Name) + 1
		if t.Item == nil {
			continue // not of this version: it has no line in the list
		}
		b.WriteString("C '")
		for _, kv := range [][2]string{{"f", ItemsFile}, {"l", fmt.Sprint(line)}, {"n", "1"}, {"t", "point"}, {"page", "v_user/" + t.Group()}, {"o", t.Name}, {"h", "ibwitness." + t.Group()}} {
			b.WriteString("\x01" + kv[0] + "\x02" + strings.ReplaceAll(kv[1], "'", ""))
		}
		fmt.Fprintf(&b, "' %d\n", t.Count.Count)
	}
	_, err := w.Write(b.Bytes())
	return err
}
