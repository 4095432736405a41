//! Lists of what nginx did, one item a try: `192.0.2.1:80, 192.0.2.2:80 : 192.0.2.3:80`.

use super::entry::Bad;

/// The items of a list: one for each server that was tried. A colon separates those before an internal redirect from
/// those after it.
pub(super) fn items(list: &str) -> Vec<&str> {
    list.split(", ").flat_map(|part| part.split(" :")).map(str::trim).collect()
}

/// The items of a list that must have as many of them as there were tries.
pub(super) fn items_of(list: &str, tries: usize) -> Result<Vec<&str>, Bad> {
    let items = items(list);
    if items.len() == tries { Ok(items) } else { Err(Bad::new(list, "as many values as upstream_addr has")) }
}

/// What is where a server's address is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tried<'a> {
    /// A server.
    Server(&'a str),
    /// None: nothing was sent, or no server of a group could be chosen and the group is named instead.
    Nobody,
}

impl<'a> Tried<'a> {
    pub(super) fn of(address: &'a str) -> Result<Self, Bad> {
        if address.contains(' ') {
            return Err(Bad::new(address, "an address in upstream_addr"));
        }
        let port = address.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        Ok(if port || address.starts_with("unix:") { Self::Server(address) } else { Self::Nobody })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_try_is_an_item() {
        assert_eq!(items("192.0.2.1:80"), ["192.0.2.1:80"]);
        assert_eq!(items("[::1]:80, unix:/a : 192.0.2.3:80"), ["[::1]:80", "unix:/a", "192.0.2.3:80"]);
        assert_eq!(items("0.001 : "), ["0.001", ""]);
        assert!(items_of("0.001", 2).is_err());
    }

    #[test]
    fn a_group_is_no_server() {
        assert_eq!(Tried::of("backend"), Ok(Tried::Nobody));
        assert_eq!(Tried::of("-"), Ok(Tried::Nobody));
        assert_eq!(Tried::of("[2001:db8::1]:80"), Ok(Tried::Server("[2001:db8::1]:80")));
        assert!(Tried::of("Mozilla/5.0 (X11)").is_err());
    }
}
