//! Verdict and advice for a person.

use observer::{
    analysis::model::Assessment,
    report::text::{Color, render},
};

use crate::assessments;

/// What the text says of the service before its table.
fn judgement(assessment: Assessment) -> String {
    let text = render(&assessments::report(assessment), Color::Plain);
    let from = text.find("service ").unwrap();
    let to = text.find("\n\n  instance ").unwrap();
    text[from..to].to_owned()
}

#[test]
fn every_kind_is_told_in_its_own_words() {
    for (name, assessment) in assessments::all() {
        insta::with_settings!({omit_expression => true}, {
            insta::assert_snapshot!(name, judgement(assessment));
        });
    }
}

#[test]
fn what_can_be_acted_on_takes_at_most_eight_lines() {
    let mut worst = assessments::independent();
    worst.verdict.missing = Some("x".into());
    worst.verdict.elevated = vec!["127.0.0.11:8080".into()];
    for assessment in assessments::all().into_iter().map(|(_, made)| made).chain([worst]) {
        let told = judgement(assessment);
        let lines = told.lines().skip(1).take_while(|line| !line.is_empty()).count();
        assert!((2..=8).contains(&lines), "{told}");
    }
}

#[test]
fn what_others_wrote_cannot_act_on_the_terminal() {
    let hostile = "x\u{1b}[2J\n\u{202e}";
    let mut made = assessments::independent();
    made.verdict.summary = hostile.into();
    made.verdict.elevated = vec![hostile.into()];
    made.verdict.slow_classes = vec![hostile.into()];
    made.verdict.evidence[0].meaning = hostile.into();
    let recommendation = &mut made.recommendation;
    for list in [&mut recommendation.conditions, &mut recommendation.warnings, &mut recommendation.instead] {
        *list = vec![hostile.into(), hostile.into()];
    }
    let told = judgement(made);
    let acts = |character: char| character.is_control() && character != '\n' || character == '\u{202e}';
    assert!(!told.contains(acts), "{told}");
    assert_eq!(told.matches(r"x\u{1b}[2J\u{a}\u{202e}").count(), 10, "{told}");
}

#[test]
fn colour_changes_nothing_but_colour() {
    for (name, assessment) in assessments::all() {
        let report = assessments::report(assessment);
        let colored = render(&report, Color::Ansi);
        let mut stripped = String::new();
        for (index, part) in colored.split('\x1b').enumerate() {
            stripped += if index == 0 { part } else { part.split_once('m').unwrap().1 };
        }
        assert_eq!(stripped, render(&report, Color::Plain), "{name}");
    }
}
