package cli

import (
	"fmt"

	"ibwitness/verifier"
)

// profileFlags say what the devices do otherwise than the standard, on purpose.
type profileFlags struct {
	Profile []string `placeholder:"NAME" complete:"profile" help:"What the devices or the network do otherwise than the standard, on purpose: adaptive-retransmission, selective-repeat, adaptive-routing, hardware-timers; cnp-per-qp=TIME, cnp-per-ip=TIME, cnp-per-port=TIME and cnp-dscp=N say how they notify of congestion (docs/profiles.md). Repeatable. Default: strict."`
}

func (f *profileFlags) profile() (verifier.Profile, error) {
	p, err := verifier.ParseProfile(f.Profile...)
	if err != nil {
		return p, fmt.Errorf("cli: --profile: %w", err)
	}
	return p, nil
}
