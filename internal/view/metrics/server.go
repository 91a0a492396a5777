package metrics

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/exporter-toolkit/web"

	"ibwitness/internal/guard"
)

// Server serves the metrics and the state of health of a run over HTTP.
type Server struct {
	http     *http.Server
	listener net.Listener
	config   string
}

// ServerOptions say how to serve.
type ServerOptions struct {
	Address string       // host:port
	Config  string       // file of exporter-toolkit, for TLS and passwords; empty: neither
	Profile bool         // serve /debug/pprof too
	Ready   func() error // what is wrong with the run; nil: nothing
	Log     *slog.Logger
	Page    Page // served at /; nil: none
}

// Page is what people look at.
type Page interface {
	http.Handler
	Close() // ends what is being served for as long as its reader wants
}

// Listen begins to listen, so that an address that is taken is told at once. Serve serves.
func Listen(c *Collector, o ServerOptions) (*Server, error) {
	l, err := net.Listen("tcp", o.Address)
	if err != nil {
		return nil, fmt.Errorf("metrics: cannot listen on %s: %w: choose another address with --listen", o.Address, err)
	}
	if err := web.Validate(o.Config); err != nil {
		l.Close()
		return nil, fmt.Errorf("metrics: %s: %w", o.Config, err)
	}
	reg := prometheus.NewRegistry()
	reg.MustRegister(c, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := o.Ready(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	if o.Profile {
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	}
	name, _, _ := net.SplitHostPort(o.Address)
	s := guard.Server(mux, name)
	s.ErrorLog = slog.NewLogLogger(o.Log.Handler(), slog.LevelWarn)
	if o.Page != nil {
		mux.Handle("/", o.Page)
		s.RegisterOnShutdown(o.Page.Close)
	}
	return &Server{s, guard.Listener(l), o.Config}, nil
}

// Address is where the server listens.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Serve serves until Close.
func (s *Server) Serve(log *slog.Logger) error {
	none, config := false, s.config
	err := web.Serve(s.listener, s.http, &web.FlagConfig{WebSystemdSocket: &none, WebConfigFile: &config}, log)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Close ends what is being served, and the server, within a second.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return s.http.Shutdown(ctx)
}
