package cli

import (
	"strings"

	"ibwitness/agent"
	"ibwitness/internal/evidence/recorder"
	"ibwitness/internal/view/metrics"
	"ibwitness/internal/view/web"
	"ibwitness/rule"
)

// pageFlags say whether the page is served.
type pageFlags struct {
	Page bool `default:"true" negatable:"" help:"Serve a page that shows the run at / of --listen: findings as they come, the packets around them, connections, rules. --no-page: do not."`
}

// livePage is the page of a run that goes on.
type livePage struct {
	*web.Server
	model *web.Model
	kept  *web.Recorded
}

// page returns the page of a run, or nil where none is served.
func (c *watchCommand) page(kept *recorder.Recorder) *livePage {
	if c.Listen == "" || !c.Page.Page {
		return nil
	}
	m := web.NewModel(web.Options{Live: true, Title: strings.Join(c.Interface, ", "), Version: version})
	k := web.NewRecorded(kept)
	return &livePage{web.NewServer(m, k), m, k}
}

// served is what is served of the page.
func (p *livePage) served() metrics.Page {
	if p == nil {
		return nil
	}
	return p.Server
}

// watch has a run tell the page what it finds.
func (p *livePage) watch(w *agent.Watch) {
	found, status := w.Found, w.Status
	w.Found = func(list []rule.Finding) {
		p.kept.Found(p.model.Found(list))
		found(list)
	}
	w.Status = func(st *agent.Status) {
		p.model.Status(st)
		status(st)
	}
	w.Survey = p.model.Survey
}

// close ends the page. The run must be over.
func (p *livePage) close() {
	if p != nil {
		p.Close()
		p.kept.Close()
	}
}
