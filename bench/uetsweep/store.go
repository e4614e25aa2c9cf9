// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/gofrs/flock"
)

// A store is a folder of results: results.jsonl, a line for each job done. Any goroutine
// may add to it.
type store struct {
	dir     string
	file    *os.File
	size    int64 // of its whole lines
	lock    *flock.Flock
	entries chan entry
	over    sync.WaitGroup

	mu   sync.Mutex
	done map[string]bool // by key
}

type entry struct {
	r     *result // nil: saved alone
	saved func(error)
}

const resultsFile = "results.jsonl"

// openStore opens a folder, made if absent, for a single process at a time. A dead process's partial
// line is cut off.
func openStore(dir string) (*store, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	s := &store{dir: dir, lock: flock.New(filepath.Join(dir, ".lock")), entries: make(chan entry, 1024), done: map[string]bool{}}
	ok, err := s.lock.TryLock()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("-out %s: another sweep is writing to it", dir)
	}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.lock.Unlock())
	}
	s.over.Go(s.write)
	return s, nil
}

func (s *store) open() (err error) {
	s.size, err = readResults(s.path(), func(r *result) { s.done[r.Key] = true })
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if s.file, err = os.OpenFile(s.path(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666); err != nil {
		return err
	}
	return s.file.Truncate(s.size)
}

// path is the file of the results.
func (s *store) path() string { return filepath.Join(s.dir, resultsFile) }

// flush waits until all added results are on the disk.
func (s *store) flush() {
	saved := make(chan struct{})
	s.entries <- entry{nil, func(error) { close(saved) }}
	<-saved
}

// readResults gives each result of a file to yield, and returns the number of bytes in whole lines.
func readResults(path string, yield func(*result)) (whole int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	b := bufio.NewReader(f)
	for n := 1; ; n++ {
		line, err := b.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return whole, nil
		}
		if err != nil {
			return whole, err
		}
		r := new(result)
		if err := json.Unmarshal(line, r); err != nil {
			return whole, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		whole += int64(len(line))
		yield(r)
	}
}

// has reports whether a job is done.
func (s *store) has(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done[key]
}

// add has a result written and saved called when the result is on the disk, or was already.
func (s *store) add(r *result, saved func(error)) { s.entries <- entry{r, saved} }

// write writes the waiting results, all with one sync.
func (s *store) write() {
	for first := range s.entries {
		some := append(make([]entry, 0, 64), first)
		for len(some) < cap(some) && len(s.entries) > 0 {
			some = append(some, <-s.entries)
		}
		err := s.append(some)
		for _, e := range some {
			e.saved(err)
		}
	}
}

func (s *store) append(some []entry) error {
	var lines bytes.Buffer
	fresh := map[string]bool{}
	for _, e := range some {
		if e.r == nil || s.has(e.r.Key) || fresh[e.r.Key] {
			continue
		}
		if err := json.NewEncoder(&lines).Encode(e.r); err != nil {
			return err
		}
		fresh[e.r.Key] = true
	}
	if len(fresh) == 0 {
		return nil
	}
	n, err := s.file.Write(lines.Bytes())
	if err != nil {
		return errors.Join(err, s.file.Truncate(s.size))
	}
	s.size += int64(n)
	if err := s.file.Sync(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range fresh {
		s.done[key] = true
	}
	return nil
}

// close waits until all is written. Add nothing from then on.
func (s *store) close() error {
	close(s.entries)
	s.over.Wait()
	return errors.Join(s.file.Close(), s.lock.Unlock())
}
