use super::*;
use crate::simulation::{Arrivals, Policy, Rate, ServiceTime};

fn policy(text: &str) -> Result<Policy, NotationError> {
    let service: ServiceTime = "98%:10ms,2%:300ms".parse().unwrap();
    text.parse::<PolicyText>().map(|text| text.for_service(&service))
}

#[test]
fn what_is_printed_is_what_was_written() {
    for text in [
        "none",
        "none:deadline=1s",
        "none:deadline=1.000000001s",
        "hedge:30ms",
        "hedge:30ms,budget=5%",
        "hedge:1.5ms,probability=62%,budget=0.5%,burst=7,per-request=1,off-above=4,to=idle,deadline=1s,cancel=0s",
        "hedge:30ms,to=any",
        "copies:2",
        "copies:5,cancel=100us",
        "tied:0s",
        "tied:1ms",
        "retry:50ms,tries=3,layers=3",
    ] {
        assert_eq!(policy(text).unwrap().to_string(), text);
    }
    for text in [
        "10ms",
        "98%:10ms,2%:300ms",
        "5ms+exponential=20ms",
        "5ms+lognormal=10ms/1",
        "98%:uniform=5ms..15ms,2%:uniform=150ms..250ms",
        "33.3%:1us,66.7%:7ns",
    ] {
        assert_eq!(text.parse::<ServiceTime>().unwrap().to_string(), text);
    }
    let rate = Rate::per_second(100.0).unwrap();
    for text in ["poisson", "bursty:factor=3,share=10%,length=1s", "closed:100,think=10ms"] {
        assert_eq!(text.parse::<Pattern>().unwrap().at(rate).unwrap().to_string(), text);
    }
    assert_eq!(super::rate("2500/s").unwrap().to_string(), "2500/s");
}

#[test]
fn what_is_left_out_has_a_sensible_value() {
    assert_eq!(policy("hedge:30ms,budget=5%"), policy("hedge:30ms,budget=5%,burst=10,to=another"));
    assert_eq!(policy("hedge:30ms"), policy("hedge:delay=30ms,probability=100%"));
    assert_eq!(policy("retry:50ms"), policy("retry:timeout=50ms,tries=2,layers=1"));
    assert_eq!("bursty".parse::<Pattern>(), "bursty:length=1s,share=10%,factor=3".parse());
}

#[test]
fn a_delay_may_be_a_quantile_of_the_service_time() {
    assert_eq!(policy("hedge:p95"), policy("hedge:10ms"));
    assert_eq!(policy("hedge:p99,budget=5%"), policy("hedge:300ms,budget=5%"));
}

#[test]
fn what_cannot_be_read_is_said_with_an_example() {
    let errors = [
        policy("hedge").unwrap_err(),
        policy("hedge:30").unwrap_err(),
        policy("hedge:30ms,budget=150%").unwrap_err(),
        policy("hedge:30ms,budgte=5%").unwrap_err(),
        policy("hedge:30ms,burst=3").unwrap_err(),
        policy("hedge:30ms,5%").unwrap_err(),
        policy("hedge:30ms,delay=10ms").unwrap_err(),
        policy("hedge:30ms,to=moon").unwrap_err(),
        policy("hedge:30ms,off-above=many").unwrap_err(),
        policy("hegde:30ms").unwrap_err(),
        policy("copies").unwrap_err(),
        policy("copies:0").unwrap_err(),
        policy("copies:1001").unwrap_err(),
        policy("retry").unwrap_err(),
        policy("none:30ms").unwrap_err(),
        "".parse::<ServiceTime>().unwrap_err(),
        "10".parse::<ServiceTime>().unwrap_err(),
        "50%:10ms".parse::<ServiceTime>().unwrap_err(),
        "0s".parse::<ServiceTime>().unwrap_err(),
        "2h".parse::<ServiceTime>().unwrap_err(),
        "uniform=15ms..5ms".parse::<ServiceTime>().unwrap_err(),
        "exponential=0s".parse::<ServiceTime>().unwrap_err(),
        "lognormal=10ms".parse::<ServiceTime>().unwrap_err(),
        "lognormal=10ms/nan".parse::<ServiceTime>().unwrap_err(),
        "pareto=10ms".parse::<ServiceTime>().unwrap_err(),
        "closed".parse::<Pattern>().unwrap_err(),
        "poisson:3".parse::<Pattern>().unwrap_err(),
        "constant".parse::<Pattern>().unwrap_err(),
        "bursty:factor=20".parse::<Pattern>().unwrap().at(Rate::per_second(9.0).unwrap()).unwrap_err(),
        rate("2500").unwrap_err(),
        rate("0/s").unwrap_err(),
        duration("-1s").unwrap_err(),
    ];
    let lines: Vec<_> = errors.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_closed_loop_needs_no_rate() {
    let arrivals = "closed:3".parse::<Pattern>().unwrap().at(Rate::per_second(1.0).unwrap()).unwrap();
    assert!(matches!(arrivals, Arrivals::ClosedLoop { .. }));
}
