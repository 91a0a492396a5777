package report

import "github.com/fatih/color"

// paint colours text where the reader sees colour; without, every function returns its text unchanged.
type paint struct{ red, green, yellow, bold, dim func(...any) string }

func newPaint(on bool) paint {
	ink := func(attributes ...color.Attribute) func(...any) string {
		c := color.New(attributes...)
		if on {
			c.EnableColor()
		} else {
			c.DisableColor()
		}
		return c.SprintFunc()
	}
	return paint{
		red: ink(color.FgRed, color.Bold), green: ink(color.FgGreen, color.Bold), yellow: ink(color.FgYellow, color.Bold),
		bold: ink(color.Bold), dim: ink(color.Faint),
	}
}

// verdict colours text as the verdict deserves.
func (p *paint) verdict(v Verdict, text string) string {
	switch v {
	case Clean:
		return p.green(text)
	case Violated, Warned:
		return p.red(text)
	}
	return p.yellow(text)
}
