package closure

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ibwitness/coverage"
)

// times writes a number of times.
func times(n uint64) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return strconv.FormatUint(n, 10) + " times"
}

// Gap is the holes of one group and service, or family of rules, in few words.
type Gap struct {
	Group, Of string
	Text      string
}

// Gaps sums the holes up: what of each group and service is missing, one kind of it after the other.
func (s *Summary) Gaps() (list []Gap) {
	type sum struct {
		Gap
		missing, all int
		kinds        []*kind
	}
	var sums []*sum
	for i := range s.Targets {
		t := &s.Targets[i]
		g, of, name := t.Group(), "", "others"
		if t.Item != nil {
			of, name = t.Item.Service, t.Item.Kind
			if g == coverage.GroupRule {
				of, _, _ = strings.Cut(t.Item.Kind, "-")
			}
		}
		at := slices.IndexFunc(sums, func(x *sum) bool { return x.Group == g && x.Of == of })
		if at < 0 {
			at = len(sums)
			sums = append(sums, &sum{Gap: Gap{Group: g, Of: of}})
		}
		x := sums[at]
		x.all++
		k := slices.IndexFunc(x.kinds, func(k *kind) bool { return k.name == name })
		if k < 0 {
			k = len(x.kinds)
			x.kinds = append(x.kinds, &kind{name: name})
		}
		x.kinds[k].all++
		if !t.Met() {
			x.missing++
			x.kinds[k].add(t)
		}
	}
	for _, x := range sums {
		switch {
		case x.missing == 0:
			continue
		case x.missing == x.all && x.all > 1:
			x.Text = fmt.Sprintf("none of %d", x.all)
		case x.Group == coverage.GroupRule:
			x.Text = fmt.Sprintf("%d of %d: %s", x.missing, x.all, families(x.kinds))
		default:
			var parts []string
			for _, k := range x.kinds {
				if len(k.values) > 0 {
					parts = append(parts, k.text(len(x.kinds) > 1))
				}
			}
			x.Text = strings.Join(parts, "; ")
		}
		list = append(list, x.Gap)
	}
	return list
}

// kind is the holes of one kind.
type kind struct {
	name   string
	all    int
	values []string
}

func (k *kind) add(t *Target) {
	v := t.Name
	if t.Item != nil {
		v = t.Item.Value
	}
	if n := t.Count.Count; n > 0 {
		v += fmt.Sprintf(" (%d of %d)", n, t.Goal)
	}
	k.values = append(k.values, v)
}

// text names what is missing of a kind: numbers that follow one another as "0 to 11".
func (k *kind) text(named bool) string {
	what := strings.Join(runs(k.values), ", ")
	if len(k.values) == k.all && k.all > 4 {
		what = fmt.Sprintf("none of %d", k.all)
	}
	if !named {
		return what
	}
	return k.name + " " + what
}

// runs joins numbers that follow one another.
func runs(values []string) (list []string) {
	for i := 0; i < len(values); {
		k := i + 1
		for n, err := strconv.Atoi(values[i]); err == nil && k < len(values) && values[k] == strconv.Itoa(n+k-i); k++ {
		}
		if k-i > 2 {
			list = append(list, values[i]+" to "+values[k-1])
		} else {
			list = append(list, values[i:k]...)
		}
		i = k
	}
	return list
}

// families says how many rules of each family are missing, most first.
func families(kinds []*kind) string {
	list := slices.DeleteFunc(slices.Clone(kinds), func(k *kind) bool { return len(k.values) == 0 })
	slices.SortStableFunc(list, func(a, b *kind) int { return len(b.values) - len(a.values) })
	const most = 6
	var parts []string
	for i, k := range list {
		if i == most && len(list) > most+1 {
			parts = append(parts, fmt.Sprintf("and %d families more", len(list)-most))
			break
		}
		if len(k.values) == 1 {
			parts = append(parts, k.name+"-"+k.values[0])
		} else {
			parts = append(parts, fmt.Sprintf("%d of %s", len(k.values), k.name))
		}
	}
	return strings.Join(parts, ", ")
}
