package incident

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
)

// Of how many commands of a class at least it is told that no others wait, or took long, and how many times as long as any other they took then.
const (
	fewestOfClass  = 3
	classTimes     = 10
	mostClassNames = 3
	enoughOthers   = 8 // of others that are answered, where they are for long
)

// onlyClasses says that all commands that wait are of classes of which none was answered since the oldest of them began, while others were answered soon; "": they are not, or nothing shows that
// it matters. The oldest has waited for a time, in nanoseconds.
func onlyClasses(u *agent.Upper, waited int64) string {
	o := u.Oldest
	if o == nil || u.Open < fewestOfClass {
		return ""
	}
	var names []string
	for i := range u.Classes {
		if k := &u.Classes[i]; k.Open > 0 {
			if k.Newest > o.Since {
				return ""
			}
			names = append(names, k.Name)
		}
	}
	if len(names) == 0 || len(names) > mostClassNames {
		return ""
	}
	least := u.Open
	if goOnLong(u, o) {
		least = min(least, enoughOthers)
	}
	return answeredMeanwhile(u, o, least, waited, fmt.Sprintf("all %d that are open are %s", u.Open, strings.Join(names, " or ")))
}

// goOnLong reports whether commands of other classes than those that wait were answered which began long after o, many times as long as those
// of its own took before: it is not that all stopped while those were being done.
func goOnLong(u *agent.Upper, o *agent.Operation) bool {
	longest, newest := time.Duration(0), int64(0)
	for n := range u.Classes {
		switch k := &u.Classes[n]; {
		case k.Open == 0:
			newest = max(newest, k.Newest)
		case k.Answers == 0:
			return false
		default:
			longest = max(longest, k.Longest)
		}
	}
	return newest-o.Since >= classTimes*int64(longest)
}

// classSlow says that the commands of the class of the slowest of c take long as a whole, each of the others far less, or how many of them do;
// "": it is not so. Those that took longest are left out of the mean: few may be an exception.
func (t *teller) classSlow(c *agent.Connection) string {
	u := c.Upper
	k := &u.Classes[u.Slowest.Class]
	rest, n := k.Took, k.Answers
	for _, o := range u.Longest {
		if o.Class == u.Slowest.Class {
			rest, n = rest-time.Duration(o.Ended-o.Since), n-1
		}
	}
	others, longest, names := otherClassesOf(u, k.Name)
	if n < fewestOfClass || others < fewestOfClass || classTimes*longest > rest/time.Duration(n) {
		return ""
	}
	s := t.classTook(c, k.Name)
	if !s.whole {
		return s.share(t, k.Name)
	}
	half := ""
	if h := halfTook(c, k.Answers); h > 0 && farBelow(h, k) {
		half = fmt.Sprintf(", usually %s", span(int64(h)))
	}
	return fmt.Sprintf(": %s is slow as a whole, %s in the mean of %d%s; none of the %s others%s took longer than %s",
		k.Name, span(int64(k.Took)/int64(k.Answers)), k.Answers, half, number(others), inBrackets(names), span(int64(longest)))
}

// inBrackets names other classes; "": they are many.
func inBrackets(names []string) string {
	if slices.Sort(names); len(names) > mostClassNames {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}

// ofClass says that the slow commands of c are of the class of the slowest; "": they are not, or it is told that they work on one target.
func (t *teller) ofClass(c *agent.Connection, on *slowTarget) string {
	u := c.Upper
	if u.Slowest == nil || u.Slowest.Class >= len(u.Classes) {
		return ""
	}
	if late, _ := t.lateOf(c, u.Slowest); on == nil && late.target != "" {
		return ""
	}
	if only := onlyClassSlow(u); only != "" {
		return only
	}
	return t.classSlow(c)
}

// onlyClassSlow says that all commands that took long are of the class of the slowest, while others were answered soon; "": they are not, or nothing shows that it matters.
func onlyClassSlow(u *agent.Upper) string {
	o, k := u.Slowest, &u.Classes[u.Slowest.Class]
	if k.Slow < fewestOfClass || k.Slow != u.Slow {
		return ""
	}
	return answeredMeanwhile(u, o, fewestOfClass, int64(k.Took)/int64(k.Answers), fmt.Sprintf("all %d that took a second or longer are %s, of %d", k.Slow, k.Name, k.Answers))
}

// answeredMeanwhile says beside what commands of the class of one have in common that so many others at least were answered meanwhile, in far less than a time; "": they were not.
func answeredMeanwhile(u *agent.Upper, o *agent.Operation, least int, took int64, common string) string {
	var names []string
	longest := time.Duration(0)
	for n := range u.Classes {
		if k := &u.Classes[n]; n != o.Class && k.Newest > o.Since {
			longest = max(longest, k.Longest)
			names = append(names, k.Name)
		}
	}
	if o.Others < uint64(least) || len(names) == 0 || classTimes*int64(longest) > took {
		return ""
	}
	slices.Sort(names)
	of := ""
	if len(names) <= mostClassNames {
		of = " (" + strings.Join(names, ", ") + ")"
	}
	return fmt.Sprintf(": %s; %s others%s were answered meanwhile, at most %s later", common, number(o.Others), of, span(int64(longest)))
}
