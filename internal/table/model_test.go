package table

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// This file is Insert and Delete again, as small state machines that do one shared
// access a step, on a table of two buckets with two slots each. TestInsertModel
// visits every reachable state of several goroutines. Key comparison is part of
// the load here: the code checks the word again after it, and repeats if it changed.

const (
	mPlaces = 4 // place 0 and 1 in the first bucket, 2 and 3 in the second
	mActors = 4
)

// mWord is a slot word. Entries of key X are there from the start (owner otherKey).
type mWord struct{ state, owner, seq uint8 }

const (
	mEmpty = iota
	mInserting
	mCollided
	mLive
)

const otherKey = mActors

type mPC uint8

const (
	mDone mPC = iota
	mClaim
	mClaimCAS
	mCount
	mScan
	mStillOpen
	mCollideOther
	mCollideTarget
	mPublish
	mLook
	mAgain
	mWithdraw
	mUncount
	mFind
	mDelete
)

type mActor struct {
	pc     mPC
	q      uint8 // place looked at
	own    uint8 // own place
	target uint8 // place being settled
	ownW   mWord
	word   mWord // word at target
	seen   mWord // word at q
	found  bool
	ret    mResult
}

type mResult uint8

const (
	mNone mResult = iota
	mInserted
	mExists
	mDeleted
	mNothing
)

type mState struct {
	slot [mPlaces]mWord
	over uint8 // entries that passed the first bucket
	act  [mActors]mActor
}

// next runs one step of actor i.
func (s *mState) next(i int, broken bool) {
	a := &s.act[i]
	switch a.pc {
	case mClaim:
		a.seen = s.slot[a.q]
		if a.seen.state == mEmpty {
			a.pc = mClaimCAS
			return
		}
		a.claimOn()
	case mClaimCAS:
		if s.slot[a.q] != a.seen {
			a.pc = mClaim
			return
		}
		a.own, a.ownW = a.q, mWord{mInserting, uint8(i), a.seen.seq}
		s.slot[a.q] = a.ownW
		a.settle()
	case mCount:
		s.over++
		a.q, a.pc = 2, mClaim
	case mScan:
		s.scan(a, broken)
	case mStillOpen:
		if a.pc = mCollideOther; s.slot[a.target] != a.word {
			a.found, a.pc = false, mLook
		}
	case mCollideOther:
		s.cas(a.q, a.seen, mCollided)
		a.pc = mScan // look at the same place again
	case mCollideTarget:
		s.cas(a.target, a.word, mCollided)
		a.found, a.pc = true, mLook
	case mPublish:
		s.cas(a.target, a.word, mLive)
		a.found, a.pc = false, mLook
	case mLook:
		s.look(a)
	case mAgain:
		a.ownW.seq++
		s.slot[a.own] = a.ownW
		a.settle()
	case mWithdraw:
		s.slot[a.own] = mWord{mEmpty, 0, a.ownW.seq + 1}
		a.ret = mExists
		a.leave()
	case mUncount:
		s.over--
		a.pc = mDone
	case mFind:
		a.seen = s.slot[a.q]
		switch {
		case a.seen.state == mLive && (a.seen.owner == otherKey) == (a.word.owner == otherKey):
			a.pc = mDelete
		case a.q == mPlaces-1 || a.q == 1 && s.over == 0:
			a.ret, a.pc = mNothing, mDone
		default:
			a.q++
		}
	case mDelete:
		if s.slot[a.q] != a.seen {
			a.ret, a.pc = mNothing, mDone
			return
		}
		s.slot[a.q] = mWord{mEmpty, 0, a.seen.seq + 1}
		a.own, a.ret = a.q, mDeleted
		a.leave()
	}
}

func (a *mActor) claimOn() {
	switch a.q {
	case 1:
		a.pc = mCount
	case mPlaces - 1:
		panic("the model has room for everybody")
	default:
		a.q, a.pc = a.q+1, mClaim
	}
}

func (a *mActor) settle() { a.target, a.word, a.q, a.pc = a.own, a.ownW, 0, mScan }

func (a *mActor) leave() {
	if a.pc = mDone; a.own >= 2 {
		a.pc = mUncount
	}
}

func (s *mState) cas(at uint8, w mWord, state uint8) {
	if s.slot[at] == w {
		s.slot[at].state = state
	}
}

// scan is one place of settle; broken leaves out that others' insertions count,
// which is the protocol that looks right and is not.
func (s *mState) scan(a *mActor, broken bool) {
	a.seen = s.slot[a.q]
	ours := a.q != a.target && a.seen.owner != otherKey
	switch {
	case ours && a.seen.state == mLive:
		a.pc = mCollideTarget
	case ours && a.seen.state == mInserting && !broken && a.q < a.target:
		a.target, a.word, a.q = a.q, a.seen, 0
	case ours && a.seen.state == mInserting && !broken:
		a.pc = mStillOpen
	case a.q == mPlaces-1 || a.q == 1 && s.over == 0:
		a.pc = mPublish
	default:
		a.q++
	}
}

func (s *mState) look(a *mActor) {
	collided := a.ownW
	collided.state = mCollided
	switch s.slot[a.own] {
	case a.ownW:
		a.settle()
	case collided:
		if a.pc = mAgain; a.found {
			a.pc = mWithdraw
		}
	default:
		a.ret, a.pc = mInserted, mDone
	}
}

func (s *mState) liveK() (n int) {
	for _, w := range s.slot {
		if w.state == mLive && w.owner != otherKey {
			n++
		}
	}
	return n
}

// explore visits every state reachable from s. onPath finds cycles: an endless
// schedule in which nobody finishes would be one, as sequence numbers wrap.
func (s mState) explore(seen map[mState]bool, broken bool, visit func(*mState) error) error {
	if onPath, ok := seen[s]; ok {
		if onPath {
			return fmt.Errorf("livelock: %+v", s)
		}
		return nil
	}
	seen[s] = true
	if err := visit(&s); err != nil {
		return err
	}
	for i := range s.act {
		if s.act[i].pc == mDone {
			continue
		}
		n := s
		n.next(i, broken)
		if err := n.explore(seen, broken, visit); err != nil {
			return err
		}
	}
	seen[s] = false
	return nil
}

func (s *mState) check() error {
	if s.liveK() > 1 {
		return fmt.Errorf("published twice: %+v", s.slot)
	}
	inserted, deleted, passed := 0, 0, 0
	for _, a := range s.act {
		if a.pc != mDone {
			return nil
		}
		if a.ret == mInserted {
			inserted++
		}
		if a.ret == mDeleted && a.word.owner != otherKey {
			deleted++
		}
	}
	for _, w := range s.slot[2:] {
		if w.state != mEmpty {
			passed++
		}
	}
	switch {
	case inserted-deleted != s.liveK():
		return fmt.Errorf("%d inserted, %d deleted, %d live", inserted, deleted, s.liveK())
	case passed != int(s.over):
		return fmt.Errorf("%d passed, count is %d", passed, s.over)
	}
	return nil
}

// mStart has inserters of key K beside deleters, and X in the first slots.
func mStart(inserters, deleteX, deleteK, x int) (s mState) {
	for i := range x {
		s.slot[i] = mWord{mLive, otherKey, 0}
	}
	n := 0
	add := func(count int, a mActor) {
		for range count {
			s.act[n] = a
			n++
		}
	}
	add(inserters, mActor{pc: mClaim})
	add(deleteX, mActor{pc: mFind, word: mWord{owner: otherKey}})
	add(deleteK, mActor{pc: mFind})
	return s
}

func TestInsertModel(t *testing.T) {
	for _, tc := range []struct{ inserters, deleteX, deleteK, x int }{
		{2, 0, 0, 0}, {2, 1, 0, 1}, {2, 1, 0, 2}, {2, 0, 1, 1}, {2, 1, 1, 1}, {2, 1, 1, 2}, {2, 2, 0, 2},
		{3, 0, 0, 0}, {3, 1, 0, 1},
	} {
		t.Run(fmt.Sprintf("%+v", tc), func(t *testing.T) {
			if tc.inserters > 2 && envInt("UETCC_LONG", 0) == 0 {
				tc.deleteX, tc.x = 0, 0 // a deleter beside three: 1.7 million states, 300 MB
			}
			seen := map[mState]bool{}
			require.NoError(t, mStart(tc.inserters, tc.deleteX, tc.deleteK, tc.x).explore(seen, false, (*mState).check))
			t.Logf("%d states", len(seen))
		})
	}
}

// TestInsertModelBites runs the obvious protocol, which ignores insertions that
// are under way: the model must find the double publication.
func TestInsertModelBites(t *testing.T) {
	err := mStart(2, 1, 0, 1).explore(map[mState]bool{}, true, (*mState).check)
	require.ErrorContains(t, err, "published twice")
}
