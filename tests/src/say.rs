//! Output of tests that is meant to be read when they pass, too.

use std::io::Write as _;

/// Prints one line to standard output, past the test harness's capture of `println!`.
///
/// What a test measured belongs to its result. A line that cannot be written is no reason to fail.
pub fn say(line: &str) {
    let mut output = std::io::stdout().lock();
    let _ = writeln!(output, "{line}");
    let _ = output.flush();
}
