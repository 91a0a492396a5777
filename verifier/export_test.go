package verifier

import "ibwitness/rule"

// Judges reports whether findings of a rule are about fields of their packet, so that they have a comparison.
func Judges(id rule.ID) bool { return judged[id] != nil }
