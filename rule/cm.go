package rule

// Communication manager.
const (
	smpFirst = cmFirst
)

var cmRows = [smpFirst - cmFirst]Row{}
