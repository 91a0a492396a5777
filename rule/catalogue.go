package rule

import (
	"slices"
	"strings"
)

// NumRules is the size of the catalogue, events included; an ID is below it.
const NumRules = int(numRows)

// catalogue holds the rows by ID: every family has an array as long as its block of constants, in the order of the constants.
var catalogue = func() (all [NumRules]Row) {
	i := 0
	for _, f := range families {
		i += copy(all[i:], f.rows)
	}
	return all
}()

// family is one section of the catalogue.
type family struct {
	name, title string
	rows        []Row
}

var families = [...]family{
	{"BTH", "Base transport header", bthRows[:]},
	{"NET", "Network layer: global route header", netRows[:]},
	{"PKY", "Partition and queue keys", pkyRows[:]},
	{"REQ", "RC requester", slices.Concat(reqRows[:], rtyRows[:])},
	{"RSP", "RC responder", rspRows[:]},
	{"UC", "UC transport", ucRows[:]},
	{"UD", "UD transport", udRows[:]},
	{"ROC", "RoCE, versions 1 and 2", rocRows[:]},
	{"FLW", "FLUSH and ATOMIC WRITE", flwRows[:]},
	{"XRC", "XRC transport", xrcRows[:]},
	{"RD", "RD transport", rdRows[:]},
	{"LNK", "Link layer, InfiniBand only", lnkRows[:]},
	{"CNG", "Congestion management", cngRows[:]},
	{"CM", "Communication manager", cmRows[:]},
	{"SMP", "Subnet management packets", smpRows},
	{"MAD", "Management datagrams, subnet administration, RMPP", slices.Concat(madRows[:], saRows[:], rmppRows[:])},
	{"QPS", "Queue pair states", qpsRows[:]},
	{"CPL", "Completions", cplRows[:]},
	{"EV", "Events", eventRows[:]},
}

// IsEvent says whether id names an event, which is legal, and not a rule.
func (id ID) IsEvent() bool { return id >= eventFirst }

// NeedsEvents says whether the rule is judged only where verbs events are known.
func (id ID) NeedsEvents() bool {
	where := id.Row().Where
	return strings.HasPrefix(where, "cq/") || strings.HasPrefix(where, "qp/")
}

// Rules returns every rule of the catalogue in its order, without the events.
func Rules() []ID { return ids(0, eventFirst) }

// Events returns every event of the catalogue in its order.
func Events() []ID { return ids(eventFirst, numRows) }

func ids(first, end ID) []ID {
	out := make([]ID, 0, end-first)
	for id := first; id < end; id++ {
		out = append(out, id)
	}
	return out
}

// Lookup finds a row by its catalogue id ("RC-PSN-004") or its short name ("request-psn-gap"), whatever the case of its letters.
// It walks the catalogue: for options and files, not for every packet.
func Lookup(id string) (ID, bool) {
	for i := range catalogue {
		if strings.EqualFold(id, catalogue[i].ID) || strings.EqualFold(id, catalogue[i].Name) {
			return ID(i), true
		}
	}
	return 0, false
}
