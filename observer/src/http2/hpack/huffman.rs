//! The Huffman code of header strings (RFC 7541, section 5.2 and appendix B).
//!
//! The code is canonical: codes of one length are consecutive, in the order of their symbols, and continue where the
//! next shorter length ended. So the lengths are all that has to be written down; the tables are made of them while
//! the program is compiled.

use super::Malformed;

/// How many bits the code of each byte takes, and at last that of the end of the string.
#[rustfmt::skip]
const LENGTHS: [u8; SYMBOLS] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
    6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
];

/// Every byte, and the end of the string.
const SYMBOLS: usize = 257;
/// Bits of the longest code.
const LONGEST: usize = 30;
/// Bits looked up at once. Most characters of a header take no more.
const QUICK: usize = 8;
/// Bits that a code is compared with: any code, aligned to the left.
const WIDTH: usize = 32;

/// The code, arranged for decoding.
struct Code {
    /// Symbols, ordered by the length of their codes and then by value.
    symbols: [u16; SYMBOLS],
    /// For each length: its first code.
    first: [u64; LONGEST + 1],
    /// For each length: the position in `symbols` of its first code.
    position: [usize; LONGEST + 1],
    /// For each length: what a left-aligned code of this length, or of a shorter one, is below.
    limit: [u64; LONGEST + 1],
    /// For the next eight bits: the symbol, and the length of its code, or 0 where it is longer.
    quick: [(u16, u8); 1 << QUICK],
}

static CODE: Code = Code::new();

impl Code {
    const fn new() -> Self {
        let mut code = Self {
            symbols: [0; SYMBOLS],
            first: [0; LONGEST + 1],
            position: [0; LONGEST + 1],
            limit: [0; LONGEST + 1],
            quick: [(0, 0); 1 << QUICK],
        };
        let mut next = 0_usize;
        let mut sorted = 0;
        let mut length = 1;
        while length <= LONGEST {
            next <<= 1;
            code.first[length] = next as u64;
            code.position[length] = sorted;
            let mut symbol = 0_u16;
            while (symbol as usize) < SYMBOLS {
                if LENGTHS[symbol as usize] as usize == length {
                    code.symbols[sorted] = symbol;
                    if length <= QUICK {
                        let from = next << (QUICK - length);
                        let mut entry = from;
                        while entry < from + (1 << (QUICK - length)) {
                            code.quick[entry] = (symbol, LENGTHS[symbol as usize]);
                            entry += 1;
                        }
                    }
                    sorted += 1;
                    next += 1;
                }
                symbol += 1;
            }
            code.limit[length] = (next as u64) << (WIDTH - length);
            length += 1;
        }
        code
    }

    /// The first symbol of `window`, 32 bits, and the length of its code.
    #[inline]
    fn symbol(&self, window: u64) -> Option<(u16, usize)> {
        let (symbol, length) = self.quick[usize::try_from(window >> (WIDTH - QUICK)).ok()?];
        if length != 0 {
            return Some((symbol, usize::from(length)));
        }
        let length = (QUICK + 1..=LONGEST).find(|&length| window < self.limit[length])?;
        let index = usize::try_from((window >> (WIDTH - length)) - self.first[length]).ok()?;
        Some((*self.symbols.get(self.position[length] + index)?, length))
    }
}

/// Appends what `bytes` stand for.
pub(super) fn decode(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Malformed> {
    const ONES: u64 = (1 << WIDTH) - 1;
    let mut bytes = bytes.iter();
    // The lowest `held` bits of `bits` are still to be decoded; what is above them is done with.
    let mut bits = 0_u64;
    let mut held = 0_usize;
    loop {
        while held <= WIDTH
            && let Some(&byte) = bytes.next()
        {
            bits = bits << 8 | u64::from(byte);
            held += 8;
        }
        if held == 0 {
            return Ok(());
        }
        // The end of the string is all ones, so ones behind the last bit change no symbol before it.
        let window = if held >= WIDTH {
            bits >> (held - WIDTH) & ONES
        } else {
            (bits << (WIDTH - held) | ONES >> held) & ONES
        };
        match CODE.symbol(window) {
            Some((symbol, length)) if length <= held => {
                // The end of the string must not be encoded.
                out.push(u8::try_from(symbol).map_err(|_| Malformed)?);
                held -= length;
            }
            // Fewer than eight ones pad the last byte.
            _ if held < 8 && window == ONES => return Ok(()),
            _ => return Err(Malformed),
        }
    }
}
