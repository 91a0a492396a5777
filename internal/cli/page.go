package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"ibwitness/internal/guard"
	"ibwitness/internal/view/report"
	"ibwitness/internal/view/web"
)

// page shows a finished run as a page, as a file or in the browser, where that is asked for.
func (c *checkCommand) page(ctx context.Context, s *session, run *report.Run) error {
	if c.HTML == "" && !c.Web {
		return nil
	}
	opt := web.Options{Title: titles(c.Files), Version: version}
	files := c.Files
	if slices.Contains(files, "-") {
		files = nil
	}
	if c.HTML != "" {
		if err := c.writeHTML(run, opt, files); err != nil {
			return err
		}
	}
	if !c.Web {
		return nil
	}
	return serve(ctx, s, c.Listen, run, opt, files)
}

// writeHTML writes the page as one file.
func (c *checkCommand) writeHTML(run *report.Run, opt web.Options, files []string) error {
	f, err := os.Create(c.HTML)
	if err != nil {
		return fmt.Errorf("cli: --html: %w: give a file that can be written", err)
	}
	return errors.Join(web.WriteHTML(f, run, opt, files), f.Close())
}

// serve serves the page until the context ends.
func serve(ctx context.Context, s *session, address string, run *report.Run, opt web.Options, files []string) error {
	model := web.NewModel(opt)
	model.Finish(run)
	var around web.Around
	if len(files) > 0 {
		capture := web.NewCapture(model, files)
		if err := capture.Prepare(); err != nil {
			return err
		}
		around = capture
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("cli: cannot listen on %s: %w: choose another address with --listen", address, err)
	}
	page := web.NewServer(model, around)
	name, _, _ := net.SplitHostPort(address)
	server := guard.Server(page, name)
	stop := context.AfterFunc(ctx, func() {
		page.Close()
		end, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = server.Shutdown(end)
	})
	defer stop()
	url := "http://" + l.Addr().String() + "/"
	s.log.Info().Str("url", url).Msg("the page is served; Ctrl-C ends it")
	if s.errTerminal {
		browse(url)
	}
	if err := server.Serve(guard.Listener(l)); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("cli: %w", err)
	}
	return nil
}

// browse opens the page in a browser, where there is one: who has none reads the address in the log.
func browse(url string) {
	name := "xdg-open"
	switch {
	case runtime.GOOS == "darwin":
		name = "open"
	case os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "":
		return
	}
	if cmd := exec.Command(name, url); cmd.Start() == nil {
		go func() { _ = cmd.Wait() }()
	}
}

// titles names the inputs.
func titles(files []string) string {
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = filepath.Base(f)
		if f == "-" {
			names[i] = "standard input"
		}
	}
	const most = 3
	if n := len(names); n > most {
		names = append(names[:most-1], fmt.Sprintf("%d more", n-most+1))
	}
	return strings.Join(names, ", ")
}
