//! The report for chat and pull requests.

use observer::report::{Report, markdown::render};
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser};

use crate::{assessments, sample::Sample};

fn assert_markdown(name: &str, report: &Report) {
    insta::with_settings!({filters => [(r"observer \d+\.\d+\.\d+", "observer VERSION")], omit_expression => true}, {
        insta::assert_snapshot!(name, render(report));
    });
}

#[test]
fn a_good_day() {
    assert_markdown("good_day", &Sample::new().report());
}

#[test]
fn a_day_of_troubles() {
    assert_markdown("troubles", &Sample::new().with_troubles().report());
}

#[test]
fn nothing_was_seen() {
    let mut sample = Sample::new();
    sample.exchanges.clear();
    assert_markdown("nothing", &sample.report());
}

#[test]
fn every_kind_is_told_in_its_own_words() {
    for (name, assessment) in assessments::all() {
        let markdown = render(&assessments::report(assessment));
        let from = markdown.find("### service ").unwrap();
        let to = markdown.find("\n\n### How it was measured").unwrap();
        insta::with_settings!({omit_expression => true}, {
            insta::assert_snapshot!(name, markdown[from..to]);
        });
    }
}

fn events(markdown: &str) -> Vec<Event<'_>> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_MATH
        | Options::ENABLE_FOOTNOTES;
    Parser::new_ext(markdown, options).collect()
}

/// Everything but text: blocks, emphasis, links, code, and HTML as it stands.
fn structure(markdown: &str) -> Vec<Event<'_>> {
    events(markdown).into_iter().filter(|event| !matches!(event, Event::Text(_))).collect()
}

/// The text of each cell.
fn cells(markdown: &str) -> Vec<String> {
    let mut cells = Vec::new();
    let mut cell = None;
    for event in events(markdown) {
        match (event, &mut cell) {
            (Event::Start(pulldown_cmark::Tag::TableCell), _) => cell = Some(String::new()),
            (Event::Text(text), Some(cell)) => cell.push_str(&text),
            (Event::End(pulldown_cmark::TagEnd::TableCell), _) => cells.extend(cell.take()),
            _ => {}
        }
    }
    cells
}

/// A report in which everything that comes from outside is called so.
fn called(name: &str) -> Report {
    let mut assessment = assessments::independent();
    let verdict = &mut assessment.verdict;
    verdict.summary = name.into();
    verdict.elevated = vec![name.into()];
    verdict.slow_classes = vec![name.into()];
    verdict.evidence[0].meaning = name.into();
    let recommendation = &mut assessment.recommendation;
    for list in [&mut recommendation.conditions, &mut recommendation.warnings, &mut recommendation.instead] {
        *list = vec![name.into(), name.into()];
    }
    let mut report = assessments::report(assessment);
    let mut troubles = Sample::new().with_troubles().report();
    troubles.source.degraded[0].reason = name.into();
    troubles.source.unpaired = [(name.into(), 1)].into();
    troubles.selection.comms = vec![name.into()];
    (report.source, report.selection) = (troubles.source, troubles.selection);
    let service = &mut report.services[0];
    (service.name, service.client, service.protocol) = (name.into(), Some(name.into()), Some(name.into()));
    service.instances[0].address = name.into();
    report
}

/// Names made of what Markdown interprets, alone and in places where it does.
fn names() -> impl Strategy<Value = String> {
    let special = prop::sample::select(vec![
        "|",
        "\\",
        "`",
        "```",
        "*",
        "**",
        "_",
        "__",
        "<",
        ">",
        "<b>",
        "</details>",
        "<!--",
        "-->",
        "&lt;",
        "&",
        "#",
        "# ",
        " #",
        "\n",
        "\r\n",
        "\n\n",
        "\t",
        "    ",
        " ",
        "[",
        "]",
        "(",
        ")",
        "![",
        "](x)",
        "[^1]",
        "[x]: ",
        "[ ] ",
        "- ",
        "+ ",
        "1. ",
        "2)",
        "---",
        "===",
        "~",
        "~~~",
        "$",
        "$$",
        ":",
        "://",
        "https://x.example",
        "www.",
        "<https://x.example>",
        "@team",
        "|---|",
        "x",
        "é",
        "0",
        ".",
        "!",
    ]);
    let piece = prop_oneof![4 => special.prop_map(String::from), 1 => any::<char>().prop_map(String::from)];
    prop::collection::vec(piece, 1..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_name_does_anything_in_markdown(name in names()) {
        prop_assume!(!name.trim().is_empty());
        let markdown = render(&called(&name));
        let harmless = render(&called("x"));
        prop_assert_eq!(structure(&markdown), structure(&harmless), "{}", markdown);
    }

    #[test]
    fn a_name_is_shown_as_it_is(name in names()) {
        let acts = |character: char| character.is_control() || "\u{61c}\u{200b}\u{200e}\u{200f}\0".contains(character)
            || ('\u{2028}'..='\u{202e}').contains(&character) || ('\u{2066}'..='\u{2069}').contains(&character);
        prop_assume!(!name.contains(acts) && !name.trim().is_empty());
        let markdown = render(&called(&name)).replace('\u{200b}', "");
        prop_assert!(cells(&markdown).iter().any(|cell| cell == name.trim()
            || cell.strip_suffix(" slow as a whole") == Some(name.trim())), "{}", markdown);
    }
}
