//! Exchanges on their way into a report.

use super::console::Console;
use crate::{
    analysis::Question,
    exchange::{Exchange, Names},
    filter::Filter,
    ledger::Ledger,
    provenance::Provenance,
    report::{self, Report, Settlements},
    settings::QuestionSettings,
};

/// The wanted exchanges, summed up.
#[derive(Clone, Debug)]
pub(super) struct Collected {
    filter: Filter,
    ledger: Ledger,
    question: Question,
}

/// A note about a port that was asked for.
pub(super) fn port_not_seen(port: u16) -> String {
    format!(
        "no exchange on port {port} is among what was selected; check the port, --role and other selections"
    )
}

impl Collected {
    /// Nothing yet; `filter` says what is wanted, `asked` what is asked about it.
    pub(super) fn new(filter: Filter, asked: &QuestionSettings) -> Self {
        let ledger = Ledger::default().measuring(asked.metric());
        Self { filter, ledger, question: asked.question() }
    }

    /// Takes in an exchange if it is wanted, and says whether it is.
    pub(super) fn take(&mut self, exchange: &Exchange, names: &Names) -> bool {
        let wanted = self.filter.admits(exchange, names);
        if wanted {
            self.ledger.record(exchange);
        }
        wanted
    }

    /// Makes the report, and notes for what nothing was seen.
    pub(super) fn into_report(
        self,
        names: &Names,
        provenance: &Provenance,
        skipped_rows: u64,
        settled: &mut Settlements,
        console: &mut Console,
    ) -> Report {
        let report = self.report(names, provenance, skipped_rows, settled);
        for port in &report.selection.ports_not_seen {
            console.note(&port_not_seen(*port));
        }
        report
    }

    /// The report as it would be if the observation ended now, with these exchanges `unfinished`.
    pub(super) fn so_far(
        &self,
        unfinished: &[Exchange],
        names: &Names,
        provenance: &Provenance,
        settled: &mut Settlements,
    ) -> Report {
        // The copy shares the rows of the ledger, and what is taken in now is gone with it.
        let mut collected = self.clone();
        for exchange in unfinished {
            collected.take(exchange, names);
        }
        collected.report(names, provenance, 0, settled)
    }

    fn report(
        self,
        names: &Names,
        provenance: &Provenance,
        skipped_rows: u64,
        settled: &mut Settlements,
    ) -> Report {
        let exchanges_before_selection = self.filter.seen();
        report::build(report::Inputs {
            ledger: &self.ledger,
            names,
            provenance,
            selection: self.filter.into_selection(),
            exchanges_before_selection,
            skipped_rows,
            question: &self.question,
            settled,
        })
    }
}
