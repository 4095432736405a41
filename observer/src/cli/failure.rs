//! How a command ends, and the exit code for it.

use std::{io::ErrorKind, process::ExitCode};

use crate::{
    capture::{access_log::AccessLogError, kernel::CaptureError, pcap::PcapError, table::TableError},
    recording::RecordingError,
};

/// How a command ended that did what it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// Completely.
    Done,
    /// Something could not be observed, and `--strict` was given.
    Degraded,
    /// What was found out is that this host cannot be observed.
    Unobservable,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        match status {
            Status::Done => Self::SUCCESS,
            Status::Degraded => Self::from(4),
            Status::Unobservable => Self::from(3),
        }
    }
}

/// Why a command did not do what it was asked for.
#[derive(Debug)]
pub(super) enum Failure {
    /// Something went wrong while running.
    Running(anyhow::Error),
    /// Wrong usage or input.
    Usage(anyhow::Error),
    /// This host cannot be observed.
    Host(anyhow::Error),
    /// Nobody reads the output any more.
    ClosedPipe,
}

impl Failure {
    /// What to tell, where there is something to tell.
    pub(super) fn message(&self) -> Option<String> {
        match self {
            Self::Running(error) | Self::Usage(error) | Self::Host(error) => Some(sentence(error)),
            Self::ClosedPipe => None,
        }
    }

    /// The exit code of the contract.
    pub(super) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Running(_) => ExitCode::from(1),
            Self::Usage(_) => ExitCode::from(2),
            Self::Host(_) => ExitCode::from(3),
            Self::ClosedPipe => ExitCode::SUCCESS,
        }
    }
}

/// What an error says, with every cause that it does not say itself.
fn sentence(error: &anyhow::Error) -> String {
    let mut sentence = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !sentence.contains(&cause) {
            sentence.push_str(": ");
            sentence.push_str(&cause);
        }
    }
    sentence
}

impl From<CaptureError> for Failure {
    fn from(error: CaptureError) -> Self {
        match error {
            CaptureError::Read { .. } => Self::Running(error.into()),
            _ => Self::Host(error.into()),
        }
    }
}

impl From<TableError> for Failure {
    fn from(error: TableError) -> Self {
        Self::Usage(error.into())
    }
}

impl From<AccessLogError> for Failure {
    fn from(error: AccessLogError) -> Self {
        Self::Usage(error.into())
    }
}

impl From<PcapError> for Failure {
    fn from(error: PcapError) -> Self {
        Self::Usage(error.into())
    }
}

impl From<RecordingError> for Failure {
    fn from(error: RecordingError) -> Self {
        match error {
            RecordingError::Write { source, .. } if source.kind() == ErrorKind::BrokenPipe => {
                Self::ClosedPipe
            }
            RecordingError::Write { .. } => Self::Running(error.into()),
            RecordingError::UnknownExtension { .. }
            | RecordingError::Create { .. }
            | RecordingError::IsDirectory { .. } => Self::Usage(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_cause_is_said_once() {
        let source = io::Error::from(ErrorKind::PermissionDenied);
        let error = RecordingError::Create { path: "x.csv".into(), source };
        let message = Failure::from(error).message().unwrap_or_default();
        assert_eq!(message.matches("permission denied").count(), 1, "{message}");
        let hidden = anyhow::Error::from(io::Error::from(ErrorKind::PermissionDenied)).context("it failed");
        assert_eq!(sentence(&hidden), "it failed: permission denied");
    }
}
