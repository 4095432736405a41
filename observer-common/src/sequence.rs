//! TCP sequence numbers: 32 bits that wrap.

/// How far `to` lies ahead of `from`; negative if it lies behind (RFC 9293, section 3.4: comparison modulo 2³²).
#[inline(always)]
pub(crate) const fn distance(from: u32, to: u32) -> i32 {
    to.wrapping_sub(from).cast_signed()
}

/// The later of two sequence numbers.
#[inline(always)]
pub(crate) const fn later(a: u32, b: u32) -> u32 {
    if distance(a, b) > 0 { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_survives_the_wrap() {
        assert_eq!(distance(10, 15), 5);
        assert_eq!(distance(u32::MAX, 1), 2);
        assert_eq!(distance(1, u32::MAX), -2);
        assert_eq!(later(u32::MAX - 1, 3), 3);
        assert_eq!(later(3, u32::MAX - 1), 3);
    }
}
