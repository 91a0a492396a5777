package cli

import (
	"fmt"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// What a service manager is told (sd_notify(3)). Where there is none, nobody is told.
const (
	nowReady     = daemon.SdNotifyReady
	nowReloading = daemon.SdNotifyReloading
	nowStopping  = daemon.SdNotifyStopping
)

func notify(state string) {
	if state == nowReloading {
		state = fmt.Sprintf("%s\n%s", state, daemon.SdNotifyMonotonicUsec())
	}
	_, _ = daemon.SdNotify(false, state)
}

// watchdog tells a service manager that the program works, as often as that wants to hear it. Whoever does the work calls alive.
type watchdog struct {
	every time.Duration // 0: nobody wants to hear it
	last  time.Time
}

func newWatchdog() *watchdog {
	d, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		d = 0
	}
	return &watchdog{every: d / 4}
}

func (w *watchdog) alive(int64) {
	if w.every > 0 && time.Since(w.last) >= w.every {
		w.last = time.Now()
		notify(daemon.SdNotifyWatchdog)
	}
}
