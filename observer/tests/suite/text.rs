//! The report for a person.

use observer::{
    ledger::Limits,
    provenance::{Provenance, SourceKind},
    report::text::{Color, render},
};

use crate::sample::Sample;

fn assert_text(name: &str, sample: &Sample) {
    let text = render(&sample.report(), Color::Plain);
    insta::with_settings!({filters => [(r"observer \d+\.\d+\.\d+", "observer VERSION")], omit_expression => true}, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn a_good_day() {
    assert_text("good_day", &Sample::new());
}

#[test]
fn a_day_of_troubles() {
    assert_text("troubles", &Sample::new().with_troubles());
}

#[test]
fn nothing_was_seen() {
    let mut sample = Sample::new();
    sample.exchanges.clear();
    assert_text("nothing", &sample);
}

#[test]
fn more_instances_and_services_than_are_kept_apart() {
    let mut sample = Sample::new();
    sample.limits = Limits { services: 1, instances: 2, ..Limits::default() };
    for port in 0..10 {
        let service = sample.names.id(&format!("service-{port}"));
        sample.add("192.0.2.1:80", 6_000_000_000, 1_000_000).service = service;
    }
    assert_text("beyond_limits", &sample);
}

#[test]
fn a_long_window_also_shows_its_end() {
    let mut sample = Sample::new();
    let window = sample.provenance.window.as_mut().unwrap();
    window.duration.0 = 90_000_000_000;
    sample.add("127.0.0.11:8080", 94_000_000_000, 3_000_000);
    sample.add("127.0.0.11:8080", 94_000_000_000, 4_000_000);
    assert_text("long_window", &sample);
}

#[test]
fn names_cannot_act_on_the_terminal() {
    let mut sample = Sample::new().with_troubles();
    let hostile = "x\u{1b}[2J\n\u{202e}LOST";
    let (service, client) = (sample.names.id(hostile), sample.names.id(&format!("{hostile}2")));
    let exchange = sample.add(hostile, 6_000_000_000, 1_000_000);
    (exchange.service, exchange.client) = (service, Some(client));
    sample.provenance.unpaired.insert(hostile.into(), 1);
    sample.provenance.degraded[0].reason = hostile.into();
    sample.selection.comms = vec![hostile.into()];
    let report = sample.report();
    let text = render(&report, Color::Plain);
    let acts = |character: char| character.is_control() && character != '\n' || character == '\u{202e}';
    assert!(!text.contains(acts), "{text}");
    // The service, its client, its instance (in the table and beside its histogram), and three lines above.
    assert_eq!(text.matches(r"x\u{1b}[2J\u{a}\u{202e}LOST").count(), 7, "{text}");
    let json = observer::report::json::render(&report, false).unwrap();
    let back: serde_json::Value = serde_json::from_str(&json).unwrap();
    let services = back["services"].as_array().unwrap();
    assert!(services.iter().any(|service| service["name"] == hostile), "{json}");
}

#[test]
fn the_demo_clients_own_timestamps_are_labelled() {
    let mut sample = Sample::new();
    sample.provenance = Provenance::of(SourceKind::DemoClient);
    let text = render(&sample.report(), Color::Plain);
    assert!(text.contains("NOTE: these are the demo client's own timestamps"), "{text}");
}

#[test]
fn colour_changes_nothing_but_colour() {
    let report = Sample::new().with_troubles().report();
    let plain = render(&report, Color::Plain);
    assert!(!plain.contains('\x1b'));
    let colored = render(&report, Color::Ansi);
    assert!(colored.contains('\x1b'));
    let mut stripped = String::new();
    let mut in_escape = false;
    for character in colored.chars() {
        match (in_escape, character) {
            (false, '\x1b') => in_escape = true,
            (true, 'm') => in_escape = false,
            (false, character) => stripped.push(character),
            (true, _) => {}
        }
    }
    assert_eq!(stripped, plain);
}
