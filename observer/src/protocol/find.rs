//! Finding a byte, sixteen at a time.

/// Where `wanted` is first. The compiler compares a block at once, which byte by byte it would not.
pub(super) fn byte(bytes: &[u8], wanted: u8) -> Option<usize> {
    let (blocks, rest) = bytes.as_chunks::<16>();
    for (index, block) in blocks.iter().enumerate() {
        if block.iter().fold(0, |found, &byte| found | u8::from(byte == wanted)) != 0 {
            return block.iter().position(|&byte| byte == wanted).map(|position| index * 16 + position);
        }
    }
    let position = rest.iter().position(|&byte| byte == wanted)?;
    Some(blocks.len() * 16 + position)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_first_is_found() {
        for length in 0..70 {
            let mut bytes = vec![b'x'; length];
            assert_eq!(super::byte(&bytes, b'y'), None);
            for place in (0..length).rev() {
                bytes[place] = b'y';
                assert_eq!(super::byte(&bytes, b'y'), Some(place));
            }
        }
    }
}
