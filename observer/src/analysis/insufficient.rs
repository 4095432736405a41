//! The assessment that there is too little to go by.

use super::{
    Question,
    model::{Action, Assessment, Cause, Composition, Recommendation, Verdict},
};

impl Assessment {
    /// No verdict, since this is `missing`: a clause such as "120 more slow requests, about 4 minutes at this rate".
    pub fn insufficient(assessed: u64, missing: String, question: &Question) -> Self {
        Self {
            verdict: Verdict {
                cause: Cause::Insufficient,
                confidence: 0.0,
                hedging_helps: None,
                slow_above_s: None,
                assessed,
                slow: 0,
                composition: Composition::default(),
                evidence: Vec::new(),
                missing: Some(missing),
                episodes: None,
                elevated: Vec::new(),
                slow_classes: Vec::new(),
                clusters: Vec::new(),
                summary: "too little is known to say why requests are slow".into(),
            },
            recommendation: Recommendation::only(Action::Wait, question),
            hedging: None,
        }
    }
}

impl Recommendation {
    /// An action, and nothing else.
    pub(super) const fn only(action: Action, question: &Question) -> Self {
        Self {
            action,
            delay_s: None,
            budget_fraction: None,
            budget_burst: None,
            hedge_probability: None,
            max_attempts: None,
            target: question.target,
            objection: None,
            expected: None,
            alternatives: Vec::new(),
            fan_out: None,
            conditions: Vec::new(),
            warnings: Vec::new(),
            instead: Vec::new(),
        }
    }
}
