package verifier

import (
	"testing"
	"time"
)

func TestParseProfile(t *testing.T) {
	for _, k := range []struct {
		words []string
		want  Profile
	}{
		{nil, Profile{}},
		{[]string{"strict"}, Profile{}},
		{[]string{"selective-repeat", "strict"}, Profile{}},
		{[]string{"adaptive-retransmission,selective-repeat", "adaptive-routing"}, Profile{AdaptiveRetransmission: true, SelectiveRepeat: true, AdaptiveRouting: true}},
		{[]string{"cnp-per-qp"}, Profile{CNPs: Pacing{PacedByQP, 4 * time.Microsecond}}},
		{[]string{"cnp-per-ip=50us, cnp-dscp=48"}, Profile{CNPs: Pacing{PacedByAddress, 50 * time.Microsecond}, DSCP: 48, HasDSCP: true}},
		{[]string{"hardware-timers"}, Profile{HardwareTimers: true}},
		{[]string{"hardware-timers=200us"}, Profile{HardwareTimers: true, Answer: 200 * time.Microsecond}},
		{[]string{"hardware-timers=200us", "hardware-timers"}, Profile{HardwareTimers: true}},
		{[]string{"hardware-timers=200us", "strict"}, Profile{}},
		{[]string{"cnp-per-port=1ms"}, Profile{CNPs: Pacing{PacedByPort, time.Millisecond}}},
	} {
		if p, err := ParseProfile(k.words...); err != nil || p != k.want {
			t.Errorf("%q: %+v, %v; want %+v", k.words, p, err, k.want)
		}
	}
	for _, word := range []string{"lenient", "strict=1", "cnp-dscp", "cnp-dscp=64", "cnp-per-qp=fast", "cnp-per-ip=-1us", "hardware-timers=soon"} {
		if p, err := ParseProfile(word); err == nil {
			t.Errorf("%q: %+v, and no error", word, p)
		}
	}
	if n, m := len(ProfileNames()), len(profiles); n != m {
		t.Errorf("%d names, %d profiles", n, m)
	}
}
