package soft_test

import (
	"fmt"
	"slices"

	"ibwitness/rule"
)

// shows reports whether a finding is on a frame that shows the fault, or rests on it, or on the next one of its device: what is missing or
// miscounted shows there.
func (s *stage) shows(x *rule.Finding) bool {
	if len(s.strayed) == 0 {
		return true
	}
	for _, n := range s.strayed {
		if x.Frame == n || slices.Contains(x.Evidence, n) || x.Frame+3 >= n && s.verbs || x.Frame > n && x.Frame <= n+8 {
			return true
		}
	}
	return false
}

func tell(x *rule.Finding) string {
	return fmt.Sprintf("%v %v frame %d by %v %v (evidence %v): expected %s, actual %s; %s", x.Class, x.Rule, x.Frame, x.Accused.Role, x.Accused.Addr, x.Evidence, x.Expected, x.Actual, x.Detail)
}
