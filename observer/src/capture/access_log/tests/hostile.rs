//! Whatever is in a file, the reader neither panics nor claims what cannot be.

use proptest::prelude::*;

use super::read_with;
use crate::capture::access_log::{AccessLogFormat, AccessLogFormat::*, recognise};

const FORMATS: [AccessLogFormat; 4] = [Nginx, Haproxy, Envoy, Jtl];

const GOOD: [&str; 6] = [
    "192.0.2.7 - - [28/Jul/2025:10:14:14 +0200] \"GET /items/17 HTTP/1.1\" 200 612 \"-\" \"-\" msec=1753690454.655 \
     ua=192.0.2.1:80, 192.0.2.2:80 urt=0.030, 0.001 uht=0.030, - uct=0.000, - us=200, 502",
    "{\"msec\":\"1753690454.655\",\"upstream_addr\":\"192.0.2.1:80\",\"upstream_response_time\":\"0.030\"}",
    "192.0.2.7:33317 [28/Jul/2025:10:14:14.655] front items/b1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 \"GET / HTTP/1.1\"",
    "[2025-07-28T10:14:14.655Z] \"GET / HTTP/2\" 200 - 154 1024 226 100 \"-\" \"-\" \"-\" \"items\" \"192.0.2.1:80\"",
    "{\"start_time\":\"2025-07-28T10:14:14.655Z\",\"duration\":226,\"upstream_host\":\"192.0.2.1:80\"}",
    "timeStamp,elapsed,label,URL,Latency,Connect\n1753690454655,52,a,http://192.0.2.1/,48,12",
];

fn read_as_everything(bytes: &[u8]) {
    let _ = recognise(bytes);
    for format in FORMATS {
        for skip_bad_rows in [false, true] {
            let Ok((_, rows)) = read_with(format, bytes, skip_bad_rows) else { continue };
            for row in rows {
                assert!(!row.instance.is_empty() && row.instance.len() <= 255, "{row:?}");
                assert!(
                    row.exchange.complete.is_none_or(|complete| complete >= row.exchange.latency),
                    "{row:?}"
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn random_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        read_as_everything(&bytes);
    }

    #[test]
    fn random_text(text in "[ \\-\\[\\]\"{}:=,./0-9a-zA-Z\n\u{e9}]{0,300}") {
        read_as_everything(text.as_bytes());
    }

    /// Good lines with some places changed.
    #[test]
    fn nearly_good_lines(
        which in 0..GOOD.len(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        numbers in any::<bool>(),
    ) {
        let mut bytes = format!("{}\n{}\n", GOOD[which], GOOD[which]).into_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = if numbers { b'0' + byte % 10 } else { byte };
        }
        read_as_everything(&bytes);
    }
}
