//! The examples of RFC 7541, appendix C, and another decoder's opinion.

use loona_hpack::decoder::DecoderError;
use proptest::prelude::*;

use super::{Decoder, Malformed, dynamic_table::LARGEST_SIZE, huffman};

type Fields = Vec<(String, String)>;

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap()).collect()
}

fn decode(decoder: &mut Decoder, block: &[u8]) -> Result<Fields, Malformed> {
    let mut fields = Vec::new();
    decoder.decode(block, |field| {
        let (name, value) = field.unwrap_or((b"?", b"?"));
        fields.push((String::from_utf8_lossy(name).into(), String::from_utf8_lossy(value).into()));
    })?;
    Ok(fields)
}

fn check(decoder: &mut Decoder, block: &str, expected: &[(&str, &str)]) {
    let fields = decode(decoder, &hex(block)).unwrap();
    let fields: Vec<_> = fields.iter().map(|(name, value)| (&name[..], &value[..])).collect();
    assert_eq!(fields, expected);
}

#[test]
fn literals_and_indexes() {
    let fresh = || Decoder::new(true);
    check(
        &mut fresh(),
        "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572",
        &[("custom-key", "custom-header")],
    );
    check(&mut fresh(), "040c 2f73 616d 706c 652f 7061 7468", &[(":path", "/sample/path")]);
    check(&mut fresh(), "1008 7061 7373 776f 7264 0673 6563 7265 74", &[("password", "secret")]);
    check(&mut fresh(), "82", &[(":method", "GET")]);
}

const REQUESTS: [&[(&str, &str)]; 3] = [
    &[(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "www.example.com")],
    &[
        (":method", "GET"),
        (":scheme", "http"),
        (":path", "/"),
        (":authority", "www.example.com"),
        ("cache-control", "no-cache"),
    ],
    &[
        (":method", "GET"),
        (":scheme", "https"),
        (":path", "/index.html"),
        (":authority", "www.example.com"),
        ("custom-key", "custom-value"),
    ],
];

#[test]
fn requests_with_and_without_huffman() {
    let plain = [
        "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        "8286 84be 5808 6e6f 2d63 6163 6865",
        "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
    ];
    let coded = [
        "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
        "8286 84be 5886 a8eb 1064 9cbf",
        "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
    ];
    for blocks in [plain, coded] {
        let mut decoder = Decoder::new(true);
        for (block, fields) in blocks.iter().zip(REQUESTS) {
            check(&mut decoder, block, fields);
        }
    }
}

#[test]
fn responses_that_do_not_fit_into_the_table() {
    let blocks = [
        "3fe1 0148 8264 0258 85ae c377 1a4b 6196 d07a be94 1054 d444 a820 0595 040b 8166 e082 a62d 1bff \
         6e91 9d29 ad17 1863 c78f 0b97 c8e9 ae82 ae43 d3",
        "4883 640e ffc1 c0bf",
        "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d \
         d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 \
         3d50 07",
    ];
    let (date, later) = ("Mon, 21 Oct 2013 20:13:21 GMT", "Mon, 21 Oct 2013 20:13:22 GMT");
    let (private, location) = (("cache-control", "private"), ("location", "https://www.example.com"));
    let mut decoder = Decoder::new(true);
    // The size update, 256, is written into the first block; the RFC assumes it.
    check(&mut decoder, blocks[0], &[(":status", "302"), private, ("date", date), location]);
    check(&mut decoder, blocks[1], &[(":status", "307"), private, ("date", date), location]);
    let cookie = "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1";
    let expected = [
        (":status", "200"),
        private,
        ("date", later),
        location,
        ("content-encoding", "gzip"),
        ("set-cookie", cookie),
    ];
    check(&mut decoder, blocks[2], &expected);
}

#[test]
fn without_the_table_what_needs_none_is_certain() {
    let mut decoder = Decoder::new(false);
    let names = |decoder: &mut Decoder, block: &[u8]| -> Vec<String> {
        decode(decoder, block).unwrap().into_iter().map(|(name, _)| name).collect()
    };
    // Static, from the table, a literal whose name is in the table, a literal to be remembered.
    let block = [&[0x88, 0xbe, 0x7e, 1, b'x'][..], &[0x40, 1, b'a', 1, b'b']].concat();
    assert_eq!(names(&mut decoder, &block), [":status", "?", "?", "a"]);
    // What was added since is known, by its place; what was before is not.
    assert_eq!(names(&mut decoder, &[0xbe, 0xbf, 0xc0]), ["a", "?", "?"]);
    assert_eq!(names(&mut decoder, &[0x7e, 1, b'c', 0xbe, 0xbf]), ["a", "a", "a"]);
    assert!(!decoder.is_certain());
    // A table without room is empty.
    assert_eq!(names(&mut decoder, &[0x20, 0x3f, 0xe1, 0x1f, 0x82]), [":method"]);
    assert!(decoder.is_certain());
    assert_eq!(decode(&mut decoder, &[0xbe]), Err(Malformed));
}

#[test]
fn a_table_larger_than_is_kept() {
    let mut decoder = Decoder::new(true);
    let block = [&hex("3f e1ff07")[..], &[0x40, 1, b'a', 1, b'b', 0xbe]].concat();
    assert_eq!(decode(&mut decoder, &block).unwrap().len(), 2);
    assert!(!decoder.is_certain());
}

#[test]
fn malformed_blocks() {
    let cases = [
        "80",
        "be",
        "ff80808080",
        "ff8080808001",
        "40",
        "4001",
        "400161",
        "40016181",
        "4001618100",
        "3fe1ff",
        "00 81ff 00",
        "00 84ffff ffff 00",
    ];
    for block in cases {
        let mut decoder = Decoder::new(true);
        assert_eq!(decode(&mut decoder, &hex(block)), Err(Malformed), "{block}");
        assert!(!decoder.is_certain());
    }
}

#[test]
fn one_entry_named_again_and_again_is_not_copied_for_ever() {
    let mut decoder = Decoder::new(true);
    let name = vec![b'n'; 60_000];
    let block = [&hex("3fe1ff03")[..], &[0x40], &hex("7fe1d303"), &name, &[0]].concat();
    assert_eq!(decode(&mut decoder, &block).unwrap().len(), 1);
    assert!(decoder.is_certain());
    let block = [0x7e, 0].repeat(30_000);
    assert_eq!(decode(&mut decoder, &block), Err(Malformed));
    assert!(decoder.held() < 4 * LARGEST_SIZE);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn huffman_agrees(bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0xff)], 0..40)) {
        let mut ours = Vec::new();
        let result = huffman::decode(&bytes, &mut ours).ok().map(|()| ours);
        let theirs = loona_hpack::huffman::HuffmanDecoder::new().decode(&bytes).ok();
        prop_assert_eq!(result, theirs);
    }

    #[test]
    fn blocks_agree(blocks in prop::collection::vec(prop::collection::vec(byte(), 0..60), 1..4)) {
        let mut ours = Decoder::new(true);
        let mut theirs = loona_hpack::Decoder::new();
        theirs.set_max_allowed_table_size(LARGEST_SIZE);
        for block in &blocks {
            let mut fields = Vec::new();
            let result = ours.decode(block, |field| {
                let (name, value) = field.unwrap_or_default();
                fields.push((name.to_vec(), value.to_vec()));
            });
            match theirs.decode(block) {
                Ok(expected) => {
                    prop_assert_eq!(result, Ok(()));
                    prop_assert_eq!(fields, expected);
                }
                // That one refuses a change of size at the end of a block, and one beyond what it was told.
                Err(DecoderError::SizeUpdateAtEnd | DecoderError::InvalidMaxDynamicSize) => return Ok(()),
                Err(_) => {
                    prop_assert_eq!(result, Err(Malformed));
                    return Ok(());
                }
            }
        }
    }

    #[test]
    fn without_the_table_nothing_else_is_told(
        blocks in prop::collection::vec(prop::collection::vec(field(), 0..10), 1..8),
        unseen in 0_usize..6,
    ) {
        let mut certain = Decoder::new(true);
        let mut late = Decoder::new(false);
        for (number, block) in blocks.iter().enumerate() {
            let block = block.concat();
            let Ok(fields) = decode(&mut certain, &block) else { return Ok(()) };
            if number < unseen {
                continue;
            }
            let seen = decode(&mut late, &block).unwrap();
            prop_assert_eq!(fields.len(), seen.len());
            for (field, seen) in fields.iter().zip(&seen) {
                prop_assert!(seen == field || seen.0 == "?");
            }
        }
    }
}

/// Bytes that are often the beginning of a field.
fn byte() -> impl Strategy<Value = u8> {
    prop_oneof![
        Just(0x40_u8),
        Just(0x00),
        Just(0x01),
        Just(0x02),
        Just(0x81),
        Just(0x82),
        Just(0xbe),
        Just(0xbf),
        Just(0x7e),
        Just(0x3f),
        any::<u8>(),
    ]
}

/// A field of a few names and values, or a change of the table's size, all valid but for indexes that are too large.
fn field() -> impl Strategy<Value = Vec<u8>> {
    let index = prop_oneof![2_u8..5, 62_u8..70];
    prop_oneof![
        4 => index.prop_map(|index| vec![0x80 | index]),
        2 => (0x20_u8..0x7f).prop_map(|letter| vec![0x40, 1, b'n', 1, letter]),
        2 => (62_u8..70, 0x20_u8..0x7f).prop_map(|(index, letter)| {
            if index < 63 { vec![0x40 | index, 1, letter] } else { vec![0x7f, index - 63, 1, letter] }
        }),
        1 => (0x20_u8..0x7f, 0_usize..120).prop_map(|(letter, length)| {
            [&[0x40, 1, letter, u8::try_from(length).unwrap()][..], &vec![letter; length]].concat()
        }),
        1 => (0_u8..200).prop_map(|size| {
            if size < 31 { vec![0x20 | size] } else { vec![0x3f, 0x80 | ((size - 31) & 0x7f), (size - 31) >> 7] }
        }),
    ]
}
