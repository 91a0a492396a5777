package web

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ibwitness/internal/view/ladder"
	"ibwitness/rule"
)

// Server serves the page of a model and what it asks for.
type Server struct {
	model  *Model
	around Around
	mux    *http.ServeMux
	over   chan struct{}
	close  sync.Once
	live   atomic.Int32 // readers of events
	every  time.Duration
}

const (
	mostItems   = 500 // of an answer
	mostReaders = 100 // of events
)

// NewServer returns a server. around may be nil: then there are no ladders.
func NewServer(m *Model, around Around) *Server {
	s := &Server{model: m, around: around, mux: http.NewServeMux(), over: make(chan struct{}), every: time.Second}
	page := index()
	s.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { s.static(w, r, "text/html; charset=utf-8", page) })
	for name, kind := range map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"} {
		list, err := fs.Glob(files, "*"+name)
		if err != nil {
			panic(err)
		}
		for _, file := range list {
			text := []byte(read(file))
			s.mux.HandleFunc("GET /page/"+file, func(w http.ResponseWriter, r *http.Request) { s.static(w, r, kind, text) })
		}
	}
	s.mux.HandleFunc("GET /api/summary", func(w http.ResponseWriter, _ *http.Request) { answer(w, m.Summary()) })
	s.mux.HandleFunc("GET /api/rules", func(w http.ResponseWriter, _ *http.Request) { answer(w, m.Rules()) })
	s.mux.HandleFunc("GET /api/findings", s.findings)
	s.mux.HandleFunc("GET /api/finding/{id}", s.finding)
	s.mux.HandleFunc("GET /api/finding/{id}/ladder", s.ladder)
	s.mux.HandleFunc("GET /api/incident/{number}/ladder", s.incident)
	s.mux.HandleFunc("GET /api/connections", s.connections)
	s.mux.HandleFunc("GET /api/connection/{id}", s.numbers)
	s.mux.HandleFunc("GET /api/messages", func(w http.ResponseWriter, _ *http.Request) { answer(w, m.Messages()) })
	s.mux.HandleFunc("GET /api/events", s.events)
	return s
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", served)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	s.mux.ServeHTTP(w, r)
}

// Close ends the streams of events, so that an HTTP server can end.
func (s *Server) Close() { s.close.Do(func() { close(s.over) }) }

// static serves a file of the page.
func (s *Server) static(w http.ResponseWriter, r *http.Request, kind string, text []byte) {
	tag := fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256(text))[:32])
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(text) // who asked has gone
}

func answer(w http.ResponseWriter, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(text)
}

// asked reads the parameters of a request.
func asked(r *http.Request) (url.Values, error) {
	v, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("web: what comes after ? cannot be read: %w", err)
	}
	return v, nil
}

// number reads a parameter that is a number; none: the other.
func number(v url.Values, name string, none uint64) (uint64, error) {
	text := v.Get(name)
	if text == "" {
		return none, nil
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("web: %s=%q: give a number from 0 to %d", name, text, math.MaxInt64)
	}
	return n, nil
}

// paged reads which part of a list is wanted.
func paged(v url.Values) (offset, limit int, err error) {
	a, err1 := number(v, "offset", 0)
	b, err2 := number(v, "limit", 100)
	return int(min(a, math.MaxInt32)), int(min(b, mostItems)), errors.Join(err1, err2)
}

func (s *Server) findings(w http.ResponseWriter, r *http.Request) {
	v, err := asked(r)
	q := FindingsQuery{Class: v.Get("class"), Rule: v.Get("rule"), Endpoint: v.Get("endpoint"), Text: v.Get("q"), Newest: v.Get("order") == "newest"}
	if order := v.Get("order"); order != "" && !q.Newest {
		err = fmt.Errorf("web: there is no order %q: give newest, or none for that of the packets", order)
	}
	var err1, err2, err3 error
	q.Upto, err1 = number(v, "upto", 0)
	q.ID, err2 = number(v, "id", 0)
	q.Offset, q.Limit, err3 = paged(v)
	if err := errors.Join(err, err1, err2, err3); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	list, err := s.model.Findings(q)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer(w, list)
}

func (s *Server) finding(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseUint(r.PathValue("id"), 10, 64)
	f, _, ok := s.model.Finding(id)
	if err != nil || !ok {
		http.Error(w, "web: this finding is no longer kept", http.StatusNotFound)
		return
	}
	answer(w, f)
}

// gone is the ladder of a finding whose frames are not kept, or that was itself forgotten since it was shown. That is no error of the page.
var gone = &ladder.Ladder{Rows: []ladder.Row{}, Differs: []ladder.Difference{}, Missing: true}

func (s *Server) ladder(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseUint(r.PathValue("id"), 10, 64)
	_, f, ok := s.model.Finding(id)
	if err != nil || !ok && !s.model.told(id) {
		http.Error(w, "web: there is no such finding", http.StatusNotFound)
		return
	}
	if !ok || f.Frame == 0 {
		answer(w, gone)
		return
	}
	s.draw(w, f, func(flow ladder.Flow, frames []ladder.Frame) *ladder.Ladder {
		return ladder.Build(f, flow, frames, ladder.Options{})
	})
}

// numbers answers with the numbers of a connection.
func (s *Server) numbers(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseUint(r.PathValue("id"), 10, 64)
	n := s.model.Numbers(id)
	if err != nil || n == nil {
		http.Error(w, "web: there is no such connection, or it is not listed any more", http.StatusNotFound)
		return
	}
	answer(w, n)
}

// incident answers with the packets of an incident.
func (s *Server) incident(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.ParseUint(r.PathValue("number"), 10, 64)
	f := s.model.incident(number)
	if err != nil || f == nil {
		http.Error(w, "web: there is no such incident, or no packet shows it", http.StatusNotFound)
		return
	}
	s.draw(w, f, func(flow ladder.Flow, frames []ladder.Frame) *ladder.Ladder { return ladderOf(f, flow, frames) })
}

// draw answers with a ladder of the packets around a finding.
func (s *Server) draw(w http.ResponseWriter, f *rule.Finding, build func(ladder.Flow, []ladder.Frame) *ladder.Ladder) {
	if s.around == nil {
		answer(w, gone)
		return
	}
	flow, frames, err := s.around.Around(f)
	switch {
	case errors.Is(err, ErrNoFrames):
		answer(w, gone)
	case err != nil:
		http.Error(w, err.Error(), http.StatusNotFound)
	default:
		answer(w, build(flow, frames))
	}
}

func (s *Server) connections(w http.ResponseWriter, r *http.Request) {
	v, err := asked(r)
	q := ConnectionsQuery{Sort: v.Get("sort"), Text: v.Get("q")}
	if q.Sort != "" && orders[q.Sort] == nil {
		err = fmt.Errorf("web: there is no order %q: give one of %s", q.Sort, strings.Join(slices.Sorted(maps.Keys(orders)), ", "))
	}
	var err1 error
	q.Offset, q.Limit, err1 = paged(v)
	if err := errors.Join(err, err1); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer(w, s.model.Connections(q))
}

// events tells the summary whenever it has changed, as server-sent events, once a second at most.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	if s.live.Add(1) > mostReaders {
		s.live.Add(-1)
		http.Error(w, "web: too many pages are open", http.StatusServiceUnavailable)
		return
	}
	defer s.live.Add(-1)
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	out := http.NewResponseController(w)
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	const quiet = 15 // ticks after which something is said in any case, so that it shows whether the reader is still there
	told, silent := uint64(0), quiet
	for {
		var text []byte
		if sum := s.model.Summary(); sum.Changed != told || told == 0 && silent == quiet {
			data, err := json.Marshal(sum)
			if err != nil {
				return
			}
			text, told = fmt.Appendf(nil, "event: summary\ndata: %s\n\n", data), sum.Changed
		} else if silent == quiet {
			text = []byte(": nothing new\n\n")
		}
		if silent++; text != nil {
			silent = 0
			_ = out.SetWriteDeadline(time.Now().Add(10 * time.Second)) // not every server has it
			if _, err := w.Write(text); err != nil {
				return
			}
			if err := out.Flush(); err != nil {
				return
			}
		}
		select {
		case <-r.Context().Done():
			return
		case <-s.over:
			return
		case <-tick.C:
		}
	}
}
