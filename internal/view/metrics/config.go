package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	configGood = desc("config_last_reload_successful", "Whether the configuration was taken over when it was last read.")
	configTime = desc("config_last_reload_success_timestamp_seconds", "When the configuration was last taken over.")
)

// config is what became of the configuration when it was read.
type config struct {
	good bool
	at   time.Time // when it was taken over
}

// Reloaded tells whether the configuration was taken over when it was read again.
func (c *Collector) Reloaded(good bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.config.good = good; good {
		c.config.at = c.now()
	}
}

func (c *config) collect(gauge func(*prometheus.Desc, float64, ...string)) {
	good := 0.0
	if c.good {
		good = 1
	}
	gauge(configGood, good)
	gauge(configTime, float64(c.at.Unix()))
}
