package rule

// Subnet management.
const (
	madFirst = smpFirst
)

var smpRows = [madFirst - smpFirst]Row{}
