package rule

import (
	"math"
	"time"
)

// Span writes a duration in nanoseconds for a reader: three digits, as clocks of captures tell no more of a wait than that, or whole seconds of a minute and more.
func Span(ns int64) string {
	d := time.Duration(ns)
	if d >= time.Minute || d <= -time.Minute {
		return d.Round(time.Second).String()
	}
	if digits := int(math.Log10(float64(max(d, -d, 1)))) - 2; digits > 0 {
		d = d.Round(time.Duration(math.Pow10(digits)))
	}
	return d.String()
}
