package incident

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// waysShown is of how many directions between hosts UDP source ports are named.
const waysShown = 3

// wayPorts are the UDP source ports of what was lost in one direction between two hosts: each direction has paths of its own.
type wayPorts struct {
	way
	ports []uint16
}

// portsByWay names UDP source ports by direction.
func portsByWay(list []wayPorts) string {
	by := map[way][]uint16{}
	for _, w := range list {
		if len(w.ports) > 0 {
			by[w.way] = withPorts(by[w.way], w.ports)
		}
	}
	ways := make([]way, 0, len(by))
	for w := range by {
		ways = append(ways, w)
	}
	slices.SortFunc(ways, func(a, b way) int { return cmp.Or(a.from.Compare(b.from), a.to.Compare(b.to)) })
	var said []string
	for _, w := range ways[:min(len(ways), waysShown)] {
		said = append(said, strings.TrimSuffix(strings.TrimPrefix(onPorts(by[w]), " ("), ")")+fmt.Sprintf(" from %v to %v", w.from, w.to))
	}
	if len(ways) > waysShown {
		said = append(said, "…")
	}
	if len(said) == 0 {
		return ""
	}
	return " (" + strings.Join(said, "; ") + ")"
}
