//! Whose log it is, by its first lines.

use super::{
    AccessLogFormat, envoy,
    fields::Fields,
    haproxy, jtl, time,
    tokens::{Token, Tokens},
};

/// So many lines are looked at: others may come before the first request.
const MOST_LINES: usize = 64;

/// The access log that `head` is the beginning of; nothing where it is none.
pub fn recognise(head: &[u8]) -> Option<AccessLogFormat> {
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}');
    let mut lines = text.lines();
    let first = lines.clone().next()?;
    if jtl::delimiter_of(first).is_some() || text.contains("<testResults") {
        return Some(AccessLogFormat::Jtl);
    }
    lines.by_ref().take(MOST_LINES).find_map(of_line)
}

fn of_line(line: &str) -> Option<AccessLogFormat> {
    if line.starts_with('{') {
        return of_json(line);
    }
    if envoy::begins(line) {
        return Some(AccessLogFormat::Envoy);
    }
    if haproxy::at_date(line).is_some() {
        return Some(AccessLogFormat::Haproxy);
    }
    let common = |token| matches!(token, Token::Bracketed(text) if time::is_like_common(text));
    let upstream = |token| matches!(token, Token::Pair("upstream_addr" | "upstream_response_time", _));
    let is_nginx = Tokens::of(line).any(|token| common(token) || upstream(token));
    is_nginx.then_some(AccessLogFormat::Nginx)
}

fn of_json(line: &str) -> Option<AccessLogFormat> {
    let fields = Fields::of_json(line).ok()?;
    let has = |names: &[&str]| fields.first(names).is_some();
    if has(&["upstream_addr", "upstream_response_time", "request_time", "time_iso8601", "msec"]) {
        Some(AccessLogFormat::Nginx)
    } else if has(&["response_flags", "upstream_host", "upstream_service_time"]) {
        Some(AccessLogFormat::Envoy)
    } else {
        None
    }
}
