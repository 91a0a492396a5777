// Package browser drives a headless Chromium for tests of the page.
package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"ibwitness/internal/testkit/programs"
)

// Patience is how long Wait waits, and the browser may take for anything: it tells a machine that is slow from a page that hangs.
const Patience = 2 * time.Minute

// Page is a page of the browser.
type Page struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	problems []string
	requests []string
}

// Open starts a browser, which ends with the test.
func Open(t testing.TB) *Page {
	t.Helper()
	program := programs.Find(t, "chromium")
	dir, err := os.MkdirTemp("", "ibwitness-browser")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(program), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("hide-scrollbars", false), chromedp.UserDataDir(dir), chromedp.WindowSize(1440, 900), chromedp.WSURLReadTimeout(Patience))
	ctx, _ = chromedp.NewContext(ctx, chromedp.WithErrorf(func(string, ...any) {})) // it tells of events that it does not know
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // the browser may be gone
		end()
		for range 100 { // its last processes may still write
			if os.RemoveAll(dir) == nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	p := &Page{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, p.happened)
	p.do(network.Enable(), log.Enable(), runtime.Enable())
	return p
}

// happened notes what the page asks for, and what goes wrong.
func (p *Page) happened(e any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := e.(type) {
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "data:") {
			p.requests = append(p.requests, e.Request.URL)
		}
	case *runtime.EventExceptionThrown:
		p.problems = append(p.problems, e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
			text, _ := json.Marshal(e.Args)
			p.problems = append(p.problems, string(text))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError || e.Entry.Level == log.LevelWarning {
			p.problems = append(p.problems, e.Entry.Text+" "+e.Entry.URL)
		}
	}
}

// Problems are the errors and warnings of the console so far, and are forgotten then.
func (p *Page) Problems() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.problems
	p.problems = nil
	return list
}

// Requests are the addresses that were asked for so far.
func (p *Page) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.requests...)
}

func (p *Page) do(actions ...chromedp.Action) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Patience)
	defer cancel()
	// The first run starts the browser, which must not end with a context of this call.
	if chromedp.FromContext(p.ctx).Target == nil {
		ctx = p.ctx
	}
	if err := chromedp.Run(ctx, actions...); err != nil {
		p.t.Fatalf("browser: %v", err)
	}
}

// Go opens an address.
func (p *Page) Go(url string) {
	p.t.Helper()
	p.do(chromedp.Navigate(url))
}

// Size changes the size of the window.
func (p *Page) Size(width, height int64) {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(width, height))
}

// Dark has the page believe that its reader likes it dark, or not.
func (p *Page) Dark(dark bool) {
	p.t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	p.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
}

// Eval returns the value of an expression, or of its promise.
func Eval[T any](p *Page, expression string) (v T) {
	p.t.Helper()
	p.do(chromedp.Evaluate(expression, &v, func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
	return v
}

// Wait waits until an expression is true.
func (p *Page) Wait(condition string) {
	p.t.Helper()
	for end := time.Now().Add(Patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if Eval[bool](p, "Promise.resolve("+condition+").then(Boolean)") {
			return
		}
	}
	p.Shoot("failed-" + strings.ReplaceAll(p.t.Name(), "/", "-"))
	shown := Eval[string](p, "document.body.innerText.slice(0, 3000)")
	p.t.Fatalf("browser: never %s\nproblems: %q\nthe page shows:\n%s", condition, p.Problems(), shown)
}

// Click clicks with the mouse into the middle of the first element that a selector finds.
func (p *Page) Click(selector string) {
	p.t.Helper()
	p.Wait(fmt.Sprintf("document.querySelector(%q)", selector))
	p.Wait(fmt.Sprintf("(%s)(%q)", still, selector))
	at := Eval[[2]float64](p, "window.clickAt")
	p.do(chromedp.MouseClickXY(at[0], at[1]))
}

// still resolves to whether an element is in sight, in the same place for three frames, and under the mouse there; where that is, clickAt says.
const still = `async (selector) => {
	let last = "";
	for (let n = 0; n < 3; n++) {
		const e = document.querySelector(selector);
		if (!e) return false;
		e.scrollIntoView({block: "nearest"});
		const r = e.getBoundingClientRect();
		const now = [r.x + r.width / 2, r.y + r.height / 2];
		const under = document.elementFromPoint(...now);
		if (n > 0 && String(now) !== last || !under || !(e.contains(under) || under.contains(e))) return false;
		last = String(now);
		window.clickAt = now;
		await new Promise((done) => requestAnimationFrame(done));
	}
	return true;
}`

// Press presses keys, one after another: letters, or the keys of chromedp/kb.
func (p *Page) Press(keys string) {
	p.t.Helper()
	for _, r := range keys {
		k, ok := kb.Keys[r]
		if !ok {
			p.t.Fatalf("browser: there is no key %q", r)
		}
		text := k.Text
		if r == '\r' {
			text = "\r"
		}
		// The text goes with the key and not after it, so that a page that takes the key has it not.
		down := input.DispatchKeyEvent(input.KeyDown).WithKey(k.Key).WithCode(k.Code).WithText(text).WithUnmodifiedText(text).WithWindowsVirtualKeyCode(k.Windows)
		p.do(down, input.DispatchKeyEvent(input.KeyUp).WithKey(k.Key).WithCode(k.Code).WithWindowsVirtualKeyCode(k.Windows))
	}
}

// Drawn returns how many nodes came into the page, and how many requests it made, while something was done: its work, as the time depends on the machine.
func (p *Page) Drawn(do func()) (nodes, requests int) {
	p.t.Helper()
	Eval[bool](p, `(window.drawn = 0, window.drawing?.disconnect(), window.drawing = new MutationObserver((list) => {
		for (const m of list) for (const n of m.addedNodes) window.drawn += 1 + (n.getElementsByTagName?.("*").length ?? 0);
	}), window.drawing.observe(document, {childList: true, subtree: true}), true)`)
	before := len(p.Requests())
	do()
	return Eval[int](p, "window.drawn"), len(p.Requests()) - before
}

// Text is the text of the first element that a selector finds.
func (p *Page) Text(selector string) string {
	p.t.Helper()
	return Eval[string](p, fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector))
}

// Barriers are what the accessibility checker axe finds that is serious or critical, each as rule, element and what to do. Rules are those that it checks; none: all.
func (p *Page) Barriers(rules ...string) []string {
	p.t.Helper()
	if !Eval[bool](p, "!!window.axe") {
		p.do(chromedp.Evaluate(programs.File(p.t, "axe.min.js"), nil))
	}
	options := map[string]any{"resultTypes": []string{"violations"}}
	if len(rules) > 0 {
		options["runOnly"] = rules
	}
	text, err := json.Marshal(options)
	if err != nil {
		p.t.Fatal(err)
	}
	return Eval[[]string](p, `axe.run(document, `+string(text)+`).then((r) => r.violations.filter((v) => ["serious", "critical"].includes(v.impact))
		.flatMap((v) => v.nodes.slice(0, 5).map((n) => v.id + " " + n.target.join(" ") + ": " + n.failureSummary)))`)
}

// Shoot writes a picture of the page to the folder that the environment variable IBWITNESS_SHOTS names; without it none is written.
func (p *Page) Shoot(name string) {
	p.t.Helper()
	dir := os.Getenv("IBWITNESS_SHOTS")
	if dir == "" {
		return
	}
	var png []byte
	p.do(chromedp.CaptureScreenshot(&png))
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		p.t.Fatal(err)
	}
}
