use proptest::prelude::*;

use super::*;

const A: u16 = 1;
const CNAME: u16 = 5;
const AAAA: u16 = 28;
const SRV: u16 = 33;

/// Builds responses byte by byte, so that nothing depends on how the parser would write them.
struct Response {
    bytes: Vec<u8>,
}

impl Response {
    /// A response to one question.
    fn to(name: &str, kind: u16) -> Self {
        let mut bytes = vec![0x12, 0x34, 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0];
        bytes.extend(wire(name));
        bytes.extend(kind.to_be_bytes());
        bytes.extend(1_u16.to_be_bytes());
        Self { bytes }
    }

    /// One more record of the section whose count is at `count`.
    fn record(mut self, count: usize, owner: &[u8], kind: u16, data: &[u8]) -> Self {
        self.bytes[count + 1] += 1;
        self.bytes.extend(owner);
        self.bytes.extend(kind.to_be_bytes());
        self.bytes.extend(1_u16.to_be_bytes());
        self.bytes.extend(30_u32.to_be_bytes());
        self.bytes.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
        self.bytes.extend(data);
        self
    }

    fn answer(self, owner: &[u8], kind: u16, data: &[u8]) -> Self {
        self.record(6, owner, kind, data)
    }

    fn additional(self, owner: &[u8], kind: u16, data: &[u8]) -> Self {
        self.record(10, owner, kind, data)
    }
}

/// A name without compression.
fn wire(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for label in name.split('.').filter(|label| !label.is_empty()) {
        bytes.push(u8::try_from(label.len()).unwrap());
        bytes.extend(label.as_bytes());
    }
    bytes.push(0);
    bytes
}

/// The compressed form of the question's name.
const QUESTION: [u8; 2] = [0xc0, 12];

fn address(text: &str) -> Address {
    Address::from_ip(text.parse().unwrap())
}

fn srv(target: &str) -> Vec<u8> {
    [&[0, 1, 0, 1, 0x18, 0xeb], wire(target).as_slice()].concat()
}

#[test]
fn an_address_has_the_name_that_was_asked_for() {
    let mut names = DnsNames::default();
    let target = wire("node-17.provider.net");
    let response = Response::to("DB.Example.com", A)
        .answer(&QUESTION, CNAME, &target)
        .answer(&target, A, &[192, 0, 2, 7])
        .answer(&target, A, &[192, 0, 2, 8])
        .answer(&wire("other.example.com"), A, &[192, 0, 2, 9]);
    assert_eq!(names.learn(&response.bytes, false), 2);
    assert_eq!(names.name_of(address("192.0.2.7")), Some("db.example.com"));
    assert_eq!(names.name_of(address("192.0.2.8")), Some("db.example.com"));
    assert_eq!(names.name_of(address("192.0.2.9")), None, "it answers another question");

    let mut v6 = [0; 16];
    v6[..4].copy_from_slice(&[0x20, 1, 0xd, 0xb8]);
    let response = Response::to("v6.example.com.", AAAA).answer(&QUESTION, AAAA, &v6);
    names.learn(&response.bytes, false);
    assert_eq!(names.name_of(address("2001:db8::")), Some("v6.example.com"));
}

#[test]
fn aliases_come_in_any_order_and_may_loop() {
    let mut names = DnsNames::default();
    let (first, second) = (wire("a.example"), wire("b.example"));
    let response = Response::to("www.example", A)
        .answer(&second, A, &[192, 0, 2, 1])
        .answer(&first, CNAME, &second)
        .answer(&second, CNAME, &first)
        .answer(&QUESTION, CNAME, &first);
    assert_eq!(names.learn(&response.bytes, false), 1);
    assert_eq!(names.name_of(address("192.0.2.1")), Some("www.example"));
}

#[test]
fn the_latest_answer_wins_and_few_names_stay() {
    let mut names = DnsNames::default();
    for number in 0..20_u64 {
        let response = Response::to(&format!("n{number}.example"), A).answer(&QUESTION, A, &[192, 0, 2, 1]);
        names.learn(&response.bytes, false);
    }
    let again = Response::to("n15.example", A).answer(&QUESTION, A, &[192, 0, 2, 1]);
    names.learn(&again.bytes, false);
    let known: Vec<&str> = names.names_of(address("192.0.2.1")).collect();
    assert_eq!(known.len(), MOST_NAMES);
    assert_eq!(known[..3], ["n15.example", "n19.example", "n18.example"]);
}

#[test]
fn targets_of_a_service_have_the_services_name() {
    let mut names = DnsNames::default();
    let service = "_redis._tcp.cache.example";
    let response = Response::to(service, SRV)
        .answer(&QUESTION, SRV, &srv("r1.example"))
        .answer(&QUESTION, SRV, &srv("r2.example"))
        .additional(&wire("r1.example"), A, &[192, 0, 2, 1])
        .additional(&wire("unrelated.example"), A, &[192, 0, 2, 9]);
    assert_eq!(names.learn(&response.bytes, false), 1);
    assert_eq!(names.name_of(address("192.0.2.1")), Some(service));
    assert_eq!(names.name_of(address("192.0.2.9")), None);
    let later = Response::to("R2.example", A).answer(&QUESTION, A, &[192, 0, 2, 2]);
    names.learn(&later.bytes, false);
    assert_eq!(names.name_of(address("192.0.2.2")), Some(service));
}

#[test]
fn a_cut_message_counts_up_to_the_cut() {
    let response = Response::to("cut.example", A)
        .answer(&QUESTION, A, &[192, 0, 2, 1])
        .answer(&QUESTION, A, &[192, 0, 2, 2])
        .answer(&QUESTION, A, &[192, 0, 2, 3]);
    let record = 16;
    for length in 0..response.bytes.len() {
        let mut names = DnsNames::default();
        let cut = &response.bytes[..length];
        assert_eq!(names.learn(cut, false), 0, "{length} bytes are no whole message");
        let complete = (length + 3 * record).saturating_sub(response.bytes.len()) / record;
        assert_eq!(names.learn(cut, true), complete, "{length} bytes");
    }
}

#[test]
fn only_answers_without_an_error_count() {
    let good = Response::to("x.example", A).answer(&QUESTION, A, &[192, 0, 2, 1]);
    for (at, value) in [(2, 0x01), (3, 0x83), (3, 0x82), (5, 2), (5, 0)] {
        let mut bytes = good.bytes.clone();
        bytes[at] = value;
        let mut names = DnsNames::default();
        assert_eq!(names.learn(&bytes, true), 0, "byte {at} = {value}");
    }
    assert_eq!(DnsNames::default().learn(&good.bytes, false), 1);
}

#[test]
fn loops_of_compression_pointers_end() {
    for pointer in [[0xc0, 12], [0xc0, 14], [0xff, 0xff], [0xc0, 0]] {
        let mut bytes = vec![0, 1, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0];
        bytes.extend(pointer);
        bytes.extend([0xc0, 12, 0, 1, 0, 1]);
        for truncated in [false, true] {
            assert_eq!(DnsNames::default().learn(&bytes, truncated), 0);
        }
    }
    let looping_owner = Response::to("x.example", A);
    let here = u8::try_from(looping_owner.bytes.len()).unwrap();
    let looping_owner = looping_owner.answer(&[0xc0, here], A, &[192, 0, 2, 1]);
    assert_eq!(DnsNames::default().learn(&looping_owner.bytes, true), 0);
}

#[test]
fn control_characters_never_reach_a_terminal() {
    let mut names = DnsNames::default();
    let response = Response::to("\u{1b}[31mred.example", A).answer(&QUESTION, A, &[192, 0, 2, 1]);
    names.learn(&response.bytes, false);
    let name = names.name_of(address("192.0.2.1")).unwrap();
    assert!(name.is_ascii() && !name.contains('\u{1b}'), "{name:?}");
}

#[test]
fn the_table_is_bounded_and_the_oldest_goes_first() {
    let mut names = DnsNames::default();
    for number in 0..u32::try_from(MOST_ADDRESSES).unwrap() + 2 {
        let response = Response::to("x.example", A).answer(&QUESTION, A, &number.to_be_bytes());
        names.learn(&response.bytes, false);
        // Answered again and again, the first one stays.
        let first = Response::to("x.example", A).answer(&QUESTION, A, &[0, 0, 0, 0]);
        names.learn(&first.bytes, false);
    }
    assert_eq!(names.addresses.len(), MOST_ADDRESSES);
    assert_eq!(names.name_of(address("0.0.0.0")), Some("x.example"));
    assert_eq!(names.name_of(address("0.0.0.1")), None);
}

#[test]
fn names_that_no_host_has_are_left_out() {
    let mut names = DnsNames::default();
    let binary = "\u{1}".repeat(60);
    let long = Response::to(&format!("{binary}.{binary}.example"), A).answer(&QUESTION, A, &[192, 0, 2, 1]);
    let root = Response::to(".", A).answer(&QUESTION, A, &[192, 0, 2, 1]);
    for response in [long, root] {
        assert_eq!(names.learn(&response.bytes, false), 0);
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..600), truncated: bool) {
        DnsNames::default().learn(&bytes, truncated);
    }

    #[test]
    fn damaged_responses_do_no_harm(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        truncated: bool,
    ) {
        let mut bytes = Response::to("_redis._tcp.cache.example", SRV)
            .answer(&QUESTION, SRV, &srv("r1.example"))
            .answer(&QUESTION, CNAME, &wire("other.example"))
            .answer(&[0xc0, 18], A, &[192, 0, 2, 4])
            .additional(&wire("r1.example"), A, &[192, 0, 2, 1])
            .bytes;
        for (at, value) in damage {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let mut names = DnsNames::default();
        names.learn(&bytes, truncated);
        prop_assert!(names.addresses.len() <= 2);
    }
}
