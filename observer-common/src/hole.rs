//! A hole in what arrives: a segment that passes after the one behind it.
//!
//! Segments pass ingress before the stack puts them into order, so two processors may swap them. The walker remembers
//! one hole: it goes on behind it where a certain frame begins, and what it knew at the hole's beginning is set aside.
//! Whatever fills the hole is walked over from there. The host puts into order what both ways tell.

use crate::{
    Connection, Direction, FrameRecord, RecordKind, Timestamp, Walker,
    aside::{Aside, Position},
    sequence::distance,
    volatile::{get, set},
};

/// Where a piece belongs among those that were told before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "host",
    derive(zerocopy::TryFromBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::IntoBytes)
)]
#[repr(u8)]
pub enum Place {
    /// Behind all of them.
    #[default]
    InOrder = 0,
    /// The same, but a hole lies somewhere before it.
    Behind = 1,
    /// In that hole.
    Fills = 2,
    /// It is no piece: the hole is filled. Where it is not `complete`, what was told behind it is wrong.
    Filled = 3,
    /// It is no piece: the hole was filled unseen, and is a gap.
    Missed = 4,
}

impl Walker {
    #[inline(always)]
    fn position(&self) -> Position {
        Position {
            next: get(&self.next),
            left: get(&self.left),
            have: get(&self.have),
            header: get(&self.header),
        }
    }

    #[inline(always)]
    fn stand(&mut self, position: Position) {
        set(&mut self.next, position.next);
        set(&mut self.left, position.left);
        set(&mut self.have, position.have);
        set(&mut self.header, position.header);
    }

    /// A segment passed that nobody walks over: what it carried will never come. Needs the connection's lock.
    #[inline(always)]
    pub fn miss(&mut self) {
        set(&mut self.missed, 1);
    }

    /// Whether a segment ahead of what is expected may leave a hole. Otherwise it is a gap.
    #[inline(always)]
    fn may_leave_a_hole(&self) -> bool {
        let state = get(&self.state);
        state & (Self::KNOWN | Self::LOST | Self::SKIPS | Self::HOLE) == Self::KNOWN && get(&self.missed) == 0
    }

    /// Whether there is a hole.
    #[inline(always)]
    fn has_hole(&self) -> bool {
        get(&self.state) & Self::HOLE != 0
    }

    /// Goes on behind a hole, at the beginning of the segment at hand.
    #[inline(always)]
    fn leap(&mut self) {
        let state = get(&self.state);
        set(&mut self.state, (state & !Self::LOST) | Self::HOLE);
        set(&mut self.left, 0);
        set(&mut self.have, 0);
    }

    /// The hole, if there is one, becomes a gap: whoever counts the records sees that some are missing.
    #[inline(always)]
    pub(crate) fn give_up_hole(&mut self) {
        let state = get(&self.state);
        if state & Self::HOLE != 0 {
            set(&mut self.state, state & !(Self::HOLE | Self::FILLING));
            self.count();
        }
    }

    /// Whether it stands in the hole.
    #[inline(always)]
    fn stands_in_hole(&self) -> bool {
        get(&self.state) & Self::FILLING != 0
    }

    /// Walks over a part of the segment at hand, in the hole.
    #[inline(always)]
    fn enter_hole(&mut self, now: Timestamp, at: u32, end: u32) {
        self.now = now;
        set(&mut self.at, at);
        set(&mut self.end, end);
        let state = get(&self.state);
        set(&mut self.state, (state & !Self::CARRIES) | Self::FILLING);
    }

    /// Leaves the hole: whether it has walked over all of the part.
    #[inline(always)]
    fn leave_hole(&mut self) -> bool {
        let state = get(&self.state);
        set(&mut self.state, state & !Self::FILLING);
        state & Self::LOST == 0 && get(&self.at) == get(&self.end)
    }

    /// There is no hole any more: the record that tells what became of it.
    #[inline(always)]
    fn close_hole(&mut self, connection: u64, place: Place, fits: bool) -> FrameRecord {
        let state = get(&self.state);
        set(&mut self.state, state & !Self::HOLE);
        FrameRecord {
            kind: RecordKind::Frame,
            number: self.count(),
            connection,
            now: self.now,
            length: 0,
            stream: 0,
            offset: 0,
            kept: 0,
            frame: 0,
            flags: 0,
            direction: Direction::Ingress.number(),
            complete: u8::from(fits),
            place,
            reserved: [0; 5],
        }
    }

    /// Where what is told at the moment belongs.
    #[inline(always)]
    pub(crate) fn place(&self) -> Place {
        let state = get(&self.state);
        if state & Self::FILLING != 0 {
            Place::Fills
        } else if state & Self::HOLE != 0 {
            Place::Behind
        } else {
            Place::InOrder
        }
    }
}

/// Where a walker stood before a segment, and whether that may leave a hole.
#[derive(Clone, Copy)]
pub(crate) struct Before {
    may: bool,
    position: Position,
}

impl Connection {
    /// What is to be set aside if the next segment leaves a hole. Only what arrives may: what leaves is in order.
    #[inline(always)]
    pub(crate) fn before_segment(&mut self, direction: Direction) -> Before {
        let walker = self.walker(direction);
        let may = matches!(direction, Direction::Ingress) && walker.may_leave_a_hole();
        set(&mut walker.missed, 0);
        Before { may, position: walker.position() }
    }

    /// Goes on behind what was missed, at the beginning of the segment with this sequence number, where a certain frame
    /// begins: it leaves a hole, or a gap.
    #[inline(always)]
    pub(crate) fn go_on_behind(&mut self, direction: Direction, before: Before, sequence: u32) {
        if before.may {
            Aside { position: before.position, end: sequence }.write(&mut self.heads);
            self.arriving.leap();
        } else {
            let walker = self.walker(direction);
            walker.give_up_hole();
            walker.found();
        }
    }

    /// Takes up an arriving segment if it fills the hole, from its beginning on: then the walker stands there, and walks
    /// over no more than the hole. Where it never will be filled that way, it becomes a gap.
    #[inline(always)]
    pub(crate) fn fill_hole(&mut self, now: Timestamp, sequence: u32, length: u32) -> bool {
        if !self.arriving.has_hole() {
            return false;
        }
        if self.arriving.is_lost() || get(&self.arriving.missed) != 0 {
            self.arriving.give_up_hole();
            return false;
        }
        let Aside { position: hole, end } = Aside::read(&self.heads);
        let behind = sequence.wrapping_add(length);
        if distance(hole.next, behind) <= 0 || distance(sequence, end) <= 0 {
            return false;
        }
        let seen = distance(sequence, hole.next);
        let walked = self.arriving.position();
        if seen < 0 || distance(walked.next, behind) > 0 {
            self.arriving.give_up_hole();
            return false;
        }
        let until = if distance(end, behind) > 0 { end } else { behind };
        Aside { position: walked, end }.write(&mut self.heads);
        self.arriving.stand(Position { next: until, ..hole });
        self.arriving.enter_hole(now, seen.unsigned_abs(), until.wrapping_sub(sequence));
        true
    }

    /// The segment at hand was walked over. Where it has filled the hole, that is to be told.
    #[inline(always)]
    pub fn end_frames(&mut self, direction: Direction) -> Option<FrameRecord> {
        if !matches!(direction, Direction::Ingress) || !self.arriving.stands_in_hole() {
            return None;
        }
        let Aside { position: walked, end } = Aside::read(&self.heads);
        let hole = self.arriving.position();
        let through = self.arriving.leave_hole();
        self.arriving.stand(walked);
        if !through {
            self.arriving.give_up_hole();
            return None;
        }
        if hole.next != end {
            Aside { position: hole, end }.write(&mut self.heads);
            return None;
        }
        // Where what filled it does not end where the walker has gone on, that was no certain place.
        let fits = hole.left == 0 && hole.have == 0;
        if !fits {
            self.arriving.lose();
        }
        Some(self.arriving.close_hole(self.parties.connection, Place::Filled, fits))
    }

    /// The receiving stack has accepted what arrives up to `received`. Where that is behind the beginning of a hole, the
    /// hole was filled unseen, which is to be told.
    #[inline(always)]
    pub fn accepted(&mut self, received: u32) -> Option<FrameRecord> {
        let hole = Aside::read(&self.heads).position.next;
        if !self.arriving.has_hole() || distance(hole, received) <= 0 {
            return None;
        }
        Some(self.arriving.close_hole(self.parties.connection, Place::Missed, false))
    }
}
