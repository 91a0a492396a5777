package cli

import (
	"errors"

	"ibwitness/internal/view/metrics"
)

// labelFlags say whom the metrics name.
type labelFlags struct {
	LabelAddresses bool `help:"Count violations, findings not proven and events by the address of the endpoint too."`
	LabelQPNs      bool `name:"label-qpns" help:"Count them by its address and queue pair number."`
	LabelLimit     int  `default:"100" placeholder:"N" help:"Endpoints, or queue pairs, that metrics name; those beyond are counted together, with address \"other\". Default: ${default}."`
}

func (c *labelFlags) check() error {
	if c.LabelLimit < 1 {
		return errors.New("cli: --label-limit must be positive")
	}
	return nil
}

func (c *labelFlags) labels() metrics.Labels {
	return metrics.Labels{Addresses: c.LabelAddresses, QPNs: c.LabelQPNs, Limit: c.LabelLimit}
}
