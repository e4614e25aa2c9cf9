// SPDX-License-Identifier: Apache-2.0

// Package netspace has network namespaces for privileged tests.
package netspace

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A Space is a network namespace without a name, with the thread inside. Nothing is left of
// a Space once the thread and the sockets opened there have gone.
type Space struct {
	calls  chan func()
	Thread int // its number, for commands that name a process
}

// New enters a new namespace, and skips the test where the machine forbids a namespace.
func New(t *testing.T) *Space {
	t.Helper()
	s := &Space{calls: make(chan func())}
	entered := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: no other goroutine may get this thread
		s.Thread = unix.Gettid()
		entered <- unix.Unshare(unix.CLONE_NEWNET)
		for f := range s.calls {
			f()
		}
	}()
	err := <-entered
	t.Cleanup(func() { close(s.calls) })
	if errors.Is(err, unix.EPERM) {
		t.Skip("no network namespaces without privilege: ", err)
	}
	require.NoError(t, err)
	return s
}

// Do calls f on the space's thread.
func (s *Space) Do(f func() error) (err error) {
	done := make(chan struct{})
	s.calls <- func() {
		err = f()
		close(done)
	}
	<-done
	return err
}

// Run runs a program and its arguments in the space.
func (s *Space) Run(command string) (out []byte, err error) {
	words := strings.Fields(command)
	err = s.Do(func() (err error) {
		if out, err = exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			err = fmt.Errorf("%s: %w: %s", command, err, out)
		}
		return err
	})
	return out, err
}
