//! The commands of a request.

use super::{
    super::{
        LeftOut, Turn,
        batch::Commands,
        sql::{self, Dialect, Extent},
        text::Text,
    },
    packet::{Packet, Packets, le32},
};

/// A packet of this length goes on in the next one.
const LONGEST: usize = 0xff_ffff;
/// How many closed statements are noted: more do not fit into what is kept of a request.
const MOST_CLOSED: usize = 14;

/// A command, by its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Query,
    Prepare,
    Execute,
    Ping,
    /// Closes a statement; not answered.
    Close,
    /// Data for a parameter; not answered.
    LongData,
    Quit,
    ChangeUser,
    ResetConnection,
    /// Binary log: what follows is a stream.
    Replicate,
    /// What its name says.
    Other(&'static str),
}

impl Command {
    /// The command in a packet; nothing where there is none of that number.
    pub(super) fn of(packet: &Packet<'_>) -> Option<Self> {
        Some(match packet.body.first()? {
            0x01 => Self::Quit,
            0x02 => Self::Other("USE"),
            0x03 => Self::Query,
            0x04 => Self::Other("FIELD LIST"),
            0x05 => Self::Other("CREATE DATABASE"),
            0x06 => Self::Other("DROP DATABASE"),
            0x07 => Self::Other("REFRESH"),
            0x08 => Self::Other("SHUTDOWN"),
            0x09 => Self::Other("STATISTICS"),
            0x0a => Self::Other("PROCESS LIST"),
            0x0c => Self::Other("KILL"),
            0x0d => Self::Other("DEBUG"),
            0x0e => Self::Ping,
            0x11 => Self::ChangeUser,
            0x12 | 0x13 | 0x1e => Self::Replicate,
            0x15 => Self::Other("REGISTER REPLICA"),
            0x16 => Self::Prepare,
            // The second is MariaDB's, for many rows at once.
            0x17 | 0xfa => Self::Execute,
            0x18 => Self::LongData,
            0x19 => Self::Close,
            0x1a => Self::Other("RESET STATEMENT"),
            0x1b => Self::Other("SET OPTION"),
            0x1c => Self::Other("FETCH"),
            0x1f => Self::ResetConnection,
            _ => return None,
        })
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Query => "QUERY",
            Self::Prepare => "PREPARE",
            Self::Execute => "EXECUTE",
            Self::Ping => "PING",
            Self::Close => "CLOSE",
            Self::LongData => "LONG DATA",
            Self::Quit => "QUIT",
            Self::ChangeUser => "CHANGE USER",
            Self::ResetConnection => "RESET CONNECTION",
            Self::Replicate => "REPLICATE",
            Self::Other(name) => name,
        }
    }
}

/// The text of a query or of a statement to prepare.
#[derive(Clone, Copy, Debug)]
pub(super) struct Query<'a> {
    /// What was kept of it.
    pub(super) text: &'a [u8],
    /// Whether it goes on.
    cut: bool,
}

impl<'a> Query<'a> {
    /// The text in a packet; nothing where attributes precede it, whose length is not told.
    pub(super) fn of(packet: &Packet<'a>) -> Option<Self> {
        let (&command, text) = packet.body.split_first()?;
        let text = match (command, text) {
            // Of newer clients: no attributes, in one set.
            (0x03, [0, 1, text @ ..]) => text,
            (0x03, [attributes, 1, ..]) if *attributes < b' ' => return None,
            _ => text,
        };
        Some(Self { text, cut: !packet.is_whole() || packet.length == LONGEST })
    }

    /// Writes its class.
    pub(super) fn write_class(&self, sole: bool, class: &mut Text) {
        sql::write_class(self.text, Dialect::MySql, Extent { cut: self.cut, sole }, class);
    }
}

/// What a request asks for.
#[derive(Debug, Default)]
pub(super) struct Request<'a> {
    /// The commands that are answered.
    pub(super) commands: Commands<'a>,
    /// The text, where a query is all there is.
    pub(super) query: Option<Query<'a>>,
    /// Whether a query is all there is, and its text is not known.
    pub(super) unreadable: bool,
    /// The text of the statement to prepare.
    pub(super) prepared: Option<Query<'a>>,
    /// The statement to execute.
    pub(super) executed: Option<u32>,
    /// The statements that are closed.
    pub(super) closed: [Option<u32>; MOST_CLOSED],
    /// Whether all statements are gone.
    pub(super) forgets: bool,
    /// Why it is no request.
    pub(super) left_out: Option<LeftOut>,
}

impl<'a> Request<'a> {
    /// Reads the commands of a turn; nothing where it does not begin with one.
    pub(super) fn read(turn: &Turn<'a>) -> Option<Self> {
        let mut request = Self::default();
        let (mut end, mut closed, mut continues) = (0, 0, false);
        for packet in Packets::new(turn.request) {
            let command = if packet.sequence == 0 { Command::of(&packet) } else { None };
            let Some(command) = command.filter(|_| packet.end <= turn.request_bytes) else {
                if end == 0 {
                    return None;
                }
                break;
            };
            end = packet.end;
            continues = packet.length == LONGEST;
            match command {
                Command::LongData => {}
                Command::Close => {
                    if let Some(place) = request.closed.get_mut(closed) {
                        *place = le32(packet.body, 1);
                        closed += 1;
                    }
                }
                _ => request.note(command, &packet),
            }
        }
        let left = turn.request_bytes.saturating_sub(end);
        let seen = request.commands.seen();
        request.commands.cut = left > 0;
        request.commands.batch = seen > 1 || (seen == 1 && left > 0 && !continues);
        if seen == 0 && left == 0 {
            request.left_out = Some(LeftOut::Unanswered);
        }
        Some(request)
    }

    /// Takes note of a command that is answered.
    fn note(&mut self, command: Command, packet: &Packet<'a>) {
        self.commands.add(Some(command.name().as_bytes()));
        match command {
            Command::Query => {
                self.query = Query::of(packet);
                self.unreadable = self.query.is_none();
            }
            Command::Prepare if self.commands.seen() == 1 => self.prepared = Query::of(packet),
            Command::Execute => self.executed = le32(packet.body, 1),
            Command::Quit => self.left_out = Some(LeftOut::Unanswered),
            Command::ResetConnection => self.forgets = true,
            Command::ChangeUser => {
                self.forgets = true;
                self.left_out = Some(LeftOut::Handshake);
            }
            Command::Replicate => self.left_out = Some(LeftOut::Streaming),
            _ => {}
        }
    }
}
