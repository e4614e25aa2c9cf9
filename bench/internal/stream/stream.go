// SPDX-License-Identifier: Apache-2.0

// Package stream measures the throughput of a byte stream, for uetperf and uetperf's peers.
package stream

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"sync/atomic"
	"time"
)

// A Job is the work of a stream.
type Job struct {
	Message int64         // bytes of each message
	Depth   int           // of them under way at a time
	Ask     bool          // each is answered by one as long, and the next one waits for that
	Bytes   int64         // to write in all; 0: until Seconds are over
	Time    time.Duration // with Bytes 0
}

// A Result is the outcome of a Job.
type Result struct {
	Bytes, Messages int64
	Took            time.Duration
	Latency         []time.Duration // of each message, as far as there is room
}

const headerLen = 9

// Serve is the far end of Drive: Serve takes messages in, and acknowledges or answers each.
func Serve(s io.ReadWriter) error {
	var header [headerLen]byte
	if _, err := io.ReadFull(s, header[:]); err != nil {
		return err
	}
	message := binary.BigEndian.Uint64(header[:])
	if message == 0 || message > 1<<30 {
		return errors.New("stream: bad length")
	}
	memory := make([]byte, message)
	for {
		if _, err := io.ReadFull(s, memory); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		answer := memory[:1]
		if header[8] != 0 {
			answer = memory
		}
		if _, err := s.Write(answer); err != nil {
			return err
		}
	}
}

// Drive does a job on a stream to Serve. moved counts acknowledged bytes.
func Drive(s io.ReadWriter, j Job, moved *atomic.Int64, stop <-chan struct{}) (Result, error) {
	var header [headerLen]byte
	binary.BigEndian.PutUint64(header[:], uint64(j.Message))
	if j.Ask {
		header[8] = 1
	}
	if _, err := s.Write(header[:]); err != nil {
		return Result{}, err
	}
	began, d := time.Now(), &driver{Job: j, s: s, moved: moved, sent: make(chan time.Time, j.Depth), failed: make(chan error, 1), stop: stop}
	if j.Ask {
		r, err := d.ask(began)
		r.Took = time.Since(began)
		return r, err
	}
	go d.write(began)
	r, err := d.read()
	r.Took = time.Since(began)
	return r, err
}

// A driver writes in one goroutine and reads in a second.
type driver struct {
	Job
	s      io.ReadWriter
	moved  *atomic.Int64
	sent   chan time.Time // when messages under way began
	failed chan error
	stop   <-chan struct{}
}

func (d *driver) write(began time.Time) {
	defer close(d.sent)
	data := make([]byte, d.Message)
	for written := int64(0); !d.Over(began, written, d.stop); written += d.Message {
		select {
		case <-d.stop:
			return
		case d.sent <- time.Now():
		}
		if _, err := d.s.Write(data); err != nil {
			d.failed <- err
			return
		}
	}
}

const latencies = 1 << 20

func (d *driver) read() (r Result, err error) {
	answer := make([]byte, 1)
	for at := range d.sent {
		if _, err := io.ReadFull(d.s, answer); err != nil {
			select {
			case err = <-d.failed:
			default:
			}
			return r, err
		}
		d.note(&r, at)
	}
	select {
	case err = <-d.failed:
	default:
	}
	return r, err
}

func (d *driver) note(r *Result, at time.Time) {
	r.Note(d.Message, time.Since(at))
	d.moved.Add(d.Message)
}

// Note counts a message of n bytes.
func (r *Result) Note(n int64, took time.Duration) {
	r.Messages++
	r.Bytes += n
	if len(r.Latency) < latencies {
		r.Latency = append(r.Latency, took)
	}
}

// Over reports whether so many bytes are enough, or the time is over, or a stop was asked for.
func (j *Job) Over(began time.Time, bytes int64, stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
	}
	return j.Bytes > 0 && bytes >= j.Bytes || j.Bytes == 0 && time.Since(began) > j.Time
}

// ask asks and waits for the answer, over and over.
func (d *driver) ask(began time.Time) (r Result, err error) {
	data := make([]byte, d.Message)
	for !d.Over(began, r.Bytes, d.stop) {
		at := time.Now()
		if _, err := d.s.Write(data); err != nil {
			return r, err
		}
		if _, err := io.ReadFull(d.s, data); err != nil {
			return r, err
		}
		d.note(&r, at)
	}
	return r, nil
}

// A Summary is the JSON output of a run.
type Summary struct {
	Event      string  `json:"event"` // "summary"
	Proto      string  `json:"proto"`
	Bytes      int64   `json:"bytes"`
	Messages   int64   `json:"messages"`
	Seconds    float64 `json:"seconds"`
	Megabits   float64 `json:"megabits_per_second"`
	PerSecond  float64 `json:"messages_per_second"`
	P50Micros  float64 `json:"p50_us,omitempty"` // of a message
	P99Micros  float64 `json:"p99_us,omitempty"`
	CPUSeconds float64 `json:"cpu_seconds,omitempty"` // of both ends, where their parent knows
}

// Summary is r in numbers.
func (r *Result) Summary(proto string) Summary {
	s := Summary{Event: "summary", Proto: proto, Bytes: r.Bytes, Messages: r.Messages, Seconds: r.Took.Seconds()}
	if s.Seconds > 0 {
		s.Megabits, s.PerSecond = float64(r.Bytes)*8/1e6/s.Seconds, float64(r.Messages)/s.Seconds
	}
	slices.Sort(r.Latency)
	if n := len(r.Latency); n > 0 {
		s.P50Micros, s.P99Micros = float64(r.Latency[n/2])/1e3, float64(r.Latency[n*99/100])/1e3
	}
	return s
}
