//! What a developer's machine may leave out, and a CI run never does.

use std::env;

use crate::say::say;

/// Whether `OBSERVER_TEST_SKIP` (comma separated) names `what`; then this is said. With `CI=true` nothing is left
/// out.
pub fn skipped(what: &str) -> bool {
    let in_ci = env::var("CI").is_ok_and(|value| value == "true");
    let named = env::var("OBSERVER_TEST_SKIP").is_ok_and(|names| names.split(',').any(|name| name == what));
    let skipped = named && !in_ci;
    if skipped {
        say(&format!("skipped: {what} (named in OBSERVER_TEST_SKIP)"));
    }
    skipped
}

/// Whether the longer variants are to run, too.
pub fn all() -> bool {
    env::var("OBSERVER_TEST_ALL").is_ok_and(|value| value == "1")
}

/// Whether others use this host while the tests run (`OBSERVER_TEST_SHARED=1`), so that what the observer counts is
/// theirs, too. With `CI=true` nobody does.
pub fn shared() -> bool {
    let in_ci = env::var("CI").is_ok_and(|value| value == "true");
    !in_ci && env::var("OBSERVER_TEST_SHARED").is_ok_and(|value| value == "1")
}
