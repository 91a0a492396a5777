package cli

import (
	"fmt"
	"os"

	"ibwitness/rule"
)

// waivers reads the waivers of the flags.
func (c *checkCommand) waivers() (rule.Waivers, error) {
	var all []rule.Waiver
	for _, name := range c.Waive {
		text, err := os.ReadFile(name)
		if err != nil {
			return rule.Waivers{}, fmt.Errorf("cli: --waive: %w: name a file that can be read", err)
		}
		list, err := rule.ReadWaivers(text)
		if err == nil {
			_, err = rule.NewWaivers(list)
		}
		if err != nil {
			return rule.Waivers{}, fmt.Errorf("cli: --waive %s: %w", name, err)
		}
		all = append(all, list...)
	}
	return rule.NewWaivers(all)
}
