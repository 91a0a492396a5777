package rule

// NumRules is the size of the catalogue.
const NumRules = 1

var catalogue [NumRules]Row
