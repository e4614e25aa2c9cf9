// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A sweep and the workers talk over NATS, with the server built into uetsweep. Jobs wait in a
// JetStream work queue: a job given out and neither acknowledged nor heard of for the length of the
// lease is given out again. A worker acknowledges a job when the sweep has reported the result on
// the disk. So a result may come twice, with a single copy stored, and cannot be lost.
const (
	jobStream   = "jobs"
	jobSubject  = "job."    // and the key
	jobConsumer = "workers" // durable: all workers are one consumer
	inputBucket = "inputs"  // files, by hash
	answers     = "answer"  // requests, each an answer
	sweepOver   = "over"    // workers may go
)

// An answer is the outcome of a job.
type answer struct {
	Key     string  `json:"key"`
	Result  *result `json:"result,omitempty"`
	Error   string  `json:"error,omitempty"` // in place of a result
	Refused bool    `json:"refused,omitempty"`
}

// A host is the side of a sweep with the queue.
type host struct {
	*campaign
	server  *server.Server
	conn    *nats.Conn
	js      jetstream.JetStream
	pending map[string]bool // keys without an answer
	mu      sync.Mutex
	over    chan struct{} // closed when there are none
	finish  sync.Once
}

// serve has the jobs done by joining workers, and by a number of local workers.
func (c *campaign) serve(ctx context.Context, o *runOptions, stderr io.Writer) (err error) {
	h := &host{campaign: c, pending: map[string]bool{}, over: make(chan struct{})}
	queue := filepath.Join(c.dir, "queue")
	if err := h.start(o, queue); err != nil {
		return err
	}
	defer h.close()
	if err := h.offer(ctx, o.lease); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "uetsweep: workers may join at %s\n", h.server.Addr())
	own, err := newWorker(h.conn, c.program, queue)
	if err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	var workers sync.WaitGroup
	if o.parallel > 0 {
		workers.Go(func() {
			if err := own.work(working, o.parallel); working.Err() == nil {
				c.stop(err)
			}
		})
	}
	select {
	case <-h.over:
	case <-ctx.Done():
	}
	stop()
	workers.Wait()
	if ctx.Err() == nil || errors.Is(context.Cause(ctx), errRefused) {
		err = errors.Join(h.conn.Publish(sweepOver, nil), h.conn.Flush())
		h.close()
		err = errors.Join(err, os.RemoveAll(queue))
	}
	return err
}

// start starts the server, with the remains of an earlier server in the queue's folder.
func (h *host) start(o *runOptions, queue string) (err error) {
	at, port, err := net.SplitHostPort(o.serve)
	if err != nil {
		return err
	}
	opts := &server.Options{Host: at, JetStream: true, StoreDir: queue, NoSigs: true, NoLog: true, DisableJetStreamBanner: true}
	if opts.Port, err = strconv.Atoi(port); err != nil {
		return fmt.Errorf("-serve %s: want a number as port: %w", o.serve, err)
	}
	if opts.Port == 0 {
		opts.Port = server.RANDOM_PORT
	}
	if opts.Authorization, err = o.door.token(); err != nil {
		return err
	}
	if opts.TLSConfig, err = o.door.serverTLS(); err != nil {
		return err
	}
	try, err := net.Listen("tcp", net.JoinHostPort(at, port)) // NATS would try for long, and not say why
	if err != nil {
		return fmt.Errorf("-serve %s: %w", o.serve, err)
	}
	if err := try.Close(); err != nil {
		return err
	}
	if h.server, err = server.NewServer(opts); err != nil {
		return fmt.Errorf("-serve %s: %w", o.serve, err)
	}
	h.server.Start()
	if !h.server.ReadyForConnections(20 * time.Second) {
		h.server.Shutdown()
		return fmt.Errorf("-serve %s: nobody can connect", o.serve)
	}
	if h.conn, err = nats.Connect("", nats.InProcessServer(h.server), nats.Token(opts.Authorization)); err == nil {
		h.js, err = jetstream.New(h.conn)
	}
	if err != nil {
		h.close()
	}
	return err
}

func (h *host) close() {
	if h.conn != nil {
		h.conn.Close()
	}
	h.server.Shutdown()
	h.server.WaitForShutdown()
}

// offer puts exactly the jobs to be done into the queue, and listens for answers.
func (h *host) offer(ctx context.Context, lease time.Duration) error {
	for _, j := range h.todo {
		h.pending[j.Key] = true
	}
	if len(h.pending) == 0 {
		h.finish.Do(func() { close(h.over) })
	}
	if _, err := h.conn.Subscribe(answers, h.answered); err != nil {
		return err
	}
	if err := h.offerFiles(ctx); err != nil {
		return err
	}
	stream, err := h.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: jobStream, Subjects: []string{jobSubject + "*"}, Retention: jetstream.WorkQueuePolicy,
	})
	if err != nil {
		return err
	}
	if err := h.offerJobs(ctx, stream); err != nil {
		return err
	}
	// A killed server's record of what is dealt may be older than its queue, so that a job counts as
	// dealt and acknowledged that is neither. A new consumer deals all that the queue holds.
	if err := stream.DeleteConsumer(ctx, jobConsumer); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return err
	}
	_, err = stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: jobConsumer, AckPolicy: jetstream.AckExplicitPolicy, AckWait: lease, MaxAckPending: -1,
	})
	return err
}

// offerFiles lets workers have the input files.
func (h *host) offerFiles(ctx context.Context) error {
	bucket, err := h.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: inputBucket})
	if err != nil {
		return err
	}
	for path, sum := range h.files {
		if _, err := bucket.GetInfo(ctx, sum); err == nil {
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if _, err := bucket.PutBytes(ctx, sum, b); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// offerJobs adds the jobs missing in the queue, and takes out jobs done or of a different sweep.
func (h *host) offerJobs(ctx context.Context, stream jetstream.Stream) error {
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(jobSubject+"*"))
	if err != nil {
		return err
	}
	for subject := range info.State.Subjects {
		if !h.pending[subject[len(jobSubject):]] {
			if err := stream.Purge(ctx, jetstream.WithPurgeSubject(subject)); err != nil {
				return err
			}
		}
	}
	for i, j := range h.todo {
		if info.State.Subjects[jobSubject+j.Key] > 0 {
			continue
		}
		b, err := json.Marshal(j)
		if err != nil {
			return err
		}
		if _, err := h.js.PublishAsync(jobSubject+j.Key, b); err != nil {
			return err
		}
		if i%1000 == 999 || i == len(h.todo)-1 {
			if err := published(ctx, h.js); err != nil {
				return err
			}
		}
	}
	return published(ctx, h.js)
}

// published waits until the queue has everything published.
func published(ctx context.Context, js jetstream.JetStream) error {
	select {
	case <-js.PublishAsyncComplete():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// answered takes a worker's answer, and confirms when no repetition is needed.
func (h *host) answered(m *nats.Msg) {
	var a answer
	if err := json.Unmarshal(m.Data, &a); err != nil || a.Result == nil && a.Error == "" {
		_ = m.Respond([]byte("not an answer")) // whoever has sent it does not listen, or asks again
		return
	}
	h.mu.Lock()
	wanted := h.pending[a.Key]
	h.mu.Unlock()
	if !wanted { // there already, or of another sweep
		_ = m.Respond(nil)
		return
	}
	var err error
	switch {
	case a.Refused:
		err = fmt.Errorf("%w %s", errRefused, a.Error)
	case a.Error != "":
		err = errors.New(a.Error)
	}
	h.ended(a.Result, err, func(err error) {
		if err != nil {
			_ = m.Respond([]byte(err.Error()))
			return
		}
		_ = m.Respond(nil)
		h.mu.Lock()
		defer h.mu.Unlock()
		if delete(h.pending, a.Key); len(h.pending) == 0 {
			h.finish.Do(func() { close(h.over) })
		}
	})
}
