package rc

import "ibwitness/qp"

func init() { qp.Strict = true } // a transition that is not possible panics
