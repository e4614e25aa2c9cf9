// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/uetcc/uetcc/bench/internal/cli"
)

// A worker does jobs of a sweep's queue.
type worker struct {
	conn    *nats.Conn
	js      jetstream.JetStream
	program *program
	dir     string // of input files
	lease   time.Duration
	stop    context.CancelCauseFunc

	files sync.Mutex // one is fetched at a time
}

func newWorker(conn *nats.Conn, p *program, dir string) (*worker, error) {
	js, err := jetstream.New(conn)
	return &worker{conn: conn, js: js, program: p, dir: dir}, err
}

// join is the command worker.
func join(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("worker", flag.ContinueOnError)
	addr := f.String("join", "", "`ADDR` of uetsweep run -serve, host:port")
	uetsim := f.String("uetsim", "", "the uetsim that runs the jobs, of the sweep's version; default: beside uetsweep, or built from this checkout")
	parallel := f.Int("jobs", runtime.NumCPU(), "jobs at a time")
	wait := f.Duration("wait", 10*time.Minute, "how long to try without reaching the sweep")
	var d door
	d.workerFlags(f)
	if err := cli.Parse(f, args, "uetsweep worker -join ADDR [flags]", stderr); err != nil {
		return err
	}
	switch {
	case f.NArg() > 0:
		return fmt.Errorf("unexpected argument %q", f.Arg(0))
	case *addr == "":
		return errors.New("-join is missing: the address of uetsweep run -serve, host:port")
	case !strings.Contains(*addr, ":"):
		return fmt.Errorf("-join %q, want the address of uetsweep run -serve, host:port", *addr)
	}
	if err := errors.Join(cli.Range("-jobs", *parallel, 1, 4096, "jobs at a time"), cli.Range("-wait", *wait, 0, 1000*time.Hour, "without the sweep")); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "uetsweep")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p, err := findProgram(ctx, *uetsim, dir, *parallel)
	if err != nil {
		return err
	}
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	conn, err := d.connect(working, *addr, *wait, stop)
	if err != nil {
		return err
	}
	defer conn.Close()
	w, err := newWorker(conn, p, dir)
	if err != nil {
		return err
	}
	err = w.work(working, *parallel)
	if ctx.Err() != nil { // by a signal: whoever has started this worker starts another
		err = fmt.Errorf("%w: %w", errFailed, context.Cause(ctx))
	}
	return err
}

// connect connects to a sweep, now or once up, and again after each loss. Without a connection
// for longer than wait, stop is called.
func (d *door) connect(ctx context.Context, addr string, wait time.Duration, stop context.CancelCauseFunc) (*nats.Conn, error) {
	token, err := d.token()
	if err != nil {
		return nil, err
	}
	secure, err := d.workerTLS()
	if err != nil {
		return nil, err
	}
	lost := func(err error) error { return fmt.Errorf("-join %s: not to be reached for %s: %w", addr, wait, err) }
	timer := time.AfterFunc(wait, func() { stop(lost(nats.ErrTimeout)) })
	timer.Stop()
	options := []nats.Option{
		nats.Token(token), nats.MaxReconnects(-1), nats.ReconnectBufSize(-1), nats.ReconnectWait(tryAgain), nats.IgnoreAuthErrorAbort(),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { timer.Reset(wait) }),
		nats.ReconnectHandler(func(*nats.Conn) { timer.Stop() }),
	}
	if secure != nil {
		options = append(options, nats.Secure(secure))
	}
	for began := time.Now(); ; pause(ctx, tryAgain) {
		conn, err := nats.Connect(addr, options...)
		switch {
		case err == nil:
			return conn, nil
		case errors.Is(err, nats.ErrAuthorization):
			return nil, fmt.Errorf("-join %s: %w: is it the same -token-file?", addr, err)
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case time.Since(began) >= wait:
			return nil, lost(err)
		}
	}
}

// tryAgain is how long a worker waits between two tries to reach the sweep.
const tryAgain = 500 * time.Millisecond

// errOver ends a worker whose sweep is over.
var errOver = errors.New("the sweep is over")

// work does jobs, so many at a time, until the sweep is over or ctx ends.
func (w *worker) work(ctx context.Context, parallel int) error {
	ctx, w.stop = context.WithCancelCause(ctx)
	defer w.stop(nil)
	if _, err := w.conn.Subscribe(sweepOver, func(*nats.Msg) { w.stop(errOver) }); err != nil {
		return err
	}
	queue := w.queue(ctx)
	if queue != nil {
		w.lease = queue.CachedInfo().Config.AckWait
		var loops sync.WaitGroup
		for range parallel {
			loops.Go(func() { w.loop(ctx, queue) })
		}
		loops.Wait()
	}
	if cause := context.Cause(ctx); !errors.Is(cause, errOver) {
		return cause
	}
	return nil
}

// queue waits for the sweep's queue; nil if ctx ends before.
func (w *worker) queue(ctx context.Context) jetstream.Consumer {
	for ctx.Err() == nil {
		if queue, err := w.js.Consumer(ctx, jobStream, jobConsumer); err == nil {
			return queue
		}
		pause(ctx, 200*time.Millisecond)
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// loop does jobs one by one.
func (w *worker) loop(ctx context.Context, queue jetstream.Consumer) {
	for ctx.Err() == nil {
		asking, stop := context.WithTimeout(ctx, w.lease/2)
		some, err := queue.Fetch(1, jetstream.FetchContext(asking))
		if err == nil {
			for m := range some.Messages() {
				w.take(ctx, m)
			}
			err = some.Error()
		}
		stop()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			pause(ctx, 200*time.Millisecond) // the server is gone, for now
		}
	}
}

// maxTries is the number of times a job is given out before being given up: such a job ends any
// worker.
const maxTries = 5

// take does the job of a message and answers, and keeps the job meanwhile.
func (w *worker) take(ctx context.Context, m jetstream.Msg) {
	var j job
	if err := json.Unmarshal(m.Data(), &j); err != nil || j.check() != nil {
		w.stop(fmt.Errorf("not a job: %.100q: %w", m.Data(), errors.Join(err, j.check())))
		return
	}
	if j.Version != w.program.version {
		_ = m.Nak()
		w.stop(fmt.Errorf("the sweep is of %s, and here is %s: name another with -uetsim", j.Version, w.program.version))
		return
	}
	over := make(chan struct{})
	var keeping sync.WaitGroup
	keeping.Go(func() { w.keep(m, over) })
	defer keeping.Wait()
	defer close(over)

	a := w.do(ctx, m, j)
	if ctx.Err() != nil || !w.tell(ctx, a) {
		_ = m.Nak() // for another; without a server the lease ends it
		return
	}
	_ = m.Ack() // if lost: the job comes again, and its second result is one too many
}

// keep tells the server a job is being done.
func (w *worker) keep(m jetstream.Msg, over chan struct{}) {
	tick := time.NewTicker(w.lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return
		case <-tick.C:
			_ = m.InProgress()
		}
	}
}

// do does a job.
func (w *worker) do(ctx context.Context, m jetstream.Msg, j job) *answer {
	if about, err := m.Metadata(); err == nil && about.NumDelivered > maxTries {
		return &answer{Key: j.Key, Error: fmt.Sprintf("uetsim %s: given out %d times, and never answered", strings.Join(j.Args, " "), maxTries)}
	}
	args, err := w.fetch(ctx, j)
	if err != nil {
		return &answer{Key: j.Key, Error: err.Error()}
	}
	r, err := w.program.run(ctx, j, args)
	if err != nil {
		text := strings.TrimPrefix(err.Error(), errRefused.Error()+" ")
		return &answer{Key: j.Key, Error: text, Refused: errors.Is(err, errRefused)}
	}
	return &answer{Key: j.Key, Result: r}
}

// tell has the sweep take an answer. tell tries until ctx ends.
func (w *worker) tell(ctx context.Context, a *answer) bool {
	b, err := json.Marshal(a)
	if err != nil {
		w.stop(err)
		return false
	}
	for ctx.Err() == nil {
		asking, stop := context.WithTimeout(ctx, 10*time.Second)
		reply, err := w.conn.RequestWithContext(asking, answers, b)
		stop()
		if err == nil && len(reply.Data) == 0 {
			return true
		}
		pause(ctx, 200*time.Millisecond)
	}
	return false
}

// fetch gets the files of a job not here yet, and returns the arguments with the files.
func (w *worker) fetch(ctx context.Context, j job) (args []string, err error) {
	w.files.Lock()
	defer w.files.Unlock()
	args = j.withFiles(func(sum, base string) string {
		path := filepath.Join(w.dir, "inputs", sum, base)
		if _, gone := os.Stat(path); gone != nil {
			err = errors.Join(err, w.fetchFile(ctx, sum, path))
		}
		return path
	})
	return args, err
}

func (w *worker) fetchFile(ctx context.Context, sum, path string) error {
	bucket, err := w.js.ObjectStore(ctx, inputBucket)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	part := path + ".tmp"
	if err := bucket.GetFile(ctx, sum, part); err != nil {
		return err
	}
	if got, err := fileSum(part); err != nil || got != sum {
		return errors.Join(err, fmt.Errorf("%s: SHA-256 is %s, want %s", path, got, sum))
	}
	return os.Rename(part, path)
}
