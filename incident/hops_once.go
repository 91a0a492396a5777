package incident

import (
	"fmt"
	"slices"
	"strings"
)

// hopTold is a next hop that moved, of which an incident tells.
type hopTold struct {
	was, is uint64
	at      int64
	of      Party  // whose next hop it is
	said    string // at the beginning of What
	next    string // that failover
}

// hopsOnce has only the first of incidents tell in full of a next hop that moved: the others of the same host say that it is the same one.
func hopsOnce(list []Incident) []Incident {
	for n := range list {
		i := &list[n]
		h := i.hop
		if h == nil {
			continue
		}
		before := slices.IndexFunc(list[:n], func(o Incident) bool {
			return o.hop != nil && o.hop.was == h.was && o.hop.is == h.is && o.hop.at == h.at && o.hop.of.Addr == h.of.Addr
		})
		if before < 0 {
			continue
		}
		i.What = strings.Replace(i.What, h.said+" ", "", 1)
		for k := range i.Facts {
			if i.Facts[k].Label == "next hop" {
				i.Facts[k].Text = fmt.Sprintf("%v sent to %s, from which its next hop had moved, see there", &h.of, station(h.was))
			}
		}
		i.FitsWith = []string{fmt.Sprintf("the next hop that moved, see there: what %v sends to %s is not forwarded any more", h.of.Addr, station(h.was))}
		i.Next = []string{h.next + ", see there"}
	}
	return list
}
