//! The class of a request that cannot be read: how large it is and how large its response.

use std::fmt::{self, Display, Formatter};

use super::text::Text;

/// The binary units, each 2¹⁰ of the one before.
const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// The size class of a request and its response, such as `64B→1KiB`: each the largest power of two that is not
/// above the size.
pub fn bucket(request_bytes: u64, response_bytes: u64) -> impl Display {
    Sizes { request_bytes, response_bytes }
}

struct Sizes {
    request_bytes: u64,
    response_bytes: u64,
}

impl Display for Sizes {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let (request, request_unit) = floor(self.request_bytes);
        let (response, response_unit) = floor(self.response_bytes);
        write!(formatter, "{request}{request_unit}→{response}{response_unit}")
    }
}

/// Writes the size class of a request and its response.
pub(super) fn write(class: &mut Text, request_bytes: u64, response_bytes: u64) {
    let (request, request_unit) = floor(request_bytes);
    let (response, response_unit) = floor(response_bytes);
    class.push_number(request);
    class.push(request_unit);
    class.push("→");
    class.push_number(response);
    class.push(response_unit);
}

/// The largest power of two that is not above `bytes`, as a number and its unit.
fn floor(bytes: u64) -> (u64, &'static str) {
    let exponent = bytes.checked_ilog2().unwrap_or_default();
    let number = if bytes == 0 { 0 } else { 1 << (exponent % 10) };
    (number, UNITS.get((exponent / 10) as usize).copied().unwrap_or("B"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_become_powers_of_two() {
        for (request, response, expected) in [
            (0, 0, "0B→0B"),
            (1, 1_023, "1B→512B"),
            (100, 1_024, "64B→1KiB"),
            (4_095, 5 << 20, "2KiB→4MiB"),
            (u64::MAX, 1 << 40, "8EiB→1TiB"),
        ] {
            assert_eq!(bucket(request, response).to_string(), expected);
            let mut class = Text::new();
            write(&mut class, request, response);
            assert_eq!(class.as_str(), expected);
        }
    }
}
