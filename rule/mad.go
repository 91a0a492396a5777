package rule

// Management datagrams, subnet administration, RMPP.
const (
	qpsFirst = madFirst
)

var madRows = [qpsFirst - madFirst]Row{}
