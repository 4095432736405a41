use observer_common::Endpoint;

use super::*;
use crate::identity::translation::{Change, Translation, Translations};

fn endpoint(text: &str) -> Endpoint {
    Endpoint::from_socket_addr(text.parse().unwrap())
}

fn facts<'a>(instance: &str, dialled: &str, dns_name: Option<&'a str>) -> Facts<'a> {
    Facts {
        client: Some("checkout"),
        instance: endpoint(instance),
        dialled: endpoint(dialled),
        dns_name,
        protocol: Some("redis"),
        is_virtual: false,
    }
}

#[derive(serde::Deserialize)]
struct Configuration {
    service: Vec<Rule>,
}

fn services(text: &str) -> Services {
    Services::new(toml::from_str::<Configuration>(text).unwrap().service)
}

#[test]
fn services_form_by_themselves() {
    let services = Services::default();
    let named = facts("10.1.0.7:6379", "10.1.0.7:6379", Some("redis.example.com"));
    assert_eq!(services.name(&named), "redis.example.com:6379");
    assert_eq!(services.name(&facts("10.1.0.7:8080", "10.96.0.1:80", Some("web"))), "web:80");
    assert_eq!(services.name(&facts("10.1.0.7:8080", "10.96.0.1:80", None)), "10.96.0.1:80");
    assert_eq!(services.name(&facts("[2001:db8::7]:8080", "[2001:db8::1]:80", None)), "[2001:db8::1]:80");
    assert_eq!(services.name(&facts("10.1.0.7:6379", "10.1.0.7:6379", None)), ":6379");
    let unresolved = Facts { is_virtual: true, ..facts("10.96.0.1:80", "10.96.0.1:80", None) };
    assert_eq!(services.name(&unresolved), "10.96.0.1:80", "one service, resolved or not");
}

#[test]
fn rules_come_first_and_need_every_kind_of_condition() {
    let services = services(
        r#"
        [[service]]
        name = "sessions"
        addresses = ["10.1.0.0/16", "192.0.2.4:6380"]
        ports = [6379, 6380]

        [[service]]
        name = "orders"
        names = ["orders-?.DB.example.*"]

        [[service]]
        name = "cached"
        clients = ["check*"]
        protocols = ["memcached", "redis"]
        ports = [7000]
        "#,
    );
    let name =
        |instance: &str, dialled: &str, dns| services.name(&facts(instance, dialled, dns)).into_owned();
    assert_eq!(name("10.1.9.9:6379", "10.1.9.9:6379", None), "sessions");
    assert_eq!(name("10.1.9.9:6379", "10.96.0.1:80", None), "sessions", "the instance counts");
    assert_eq!(name("10.2.0.1:6379", "10.1.0.1:6379", None), "sessions", "what was dialled counts");
    assert_eq!(name("10.1.9.9:5432", "10.1.9.9:5432", None), ":5432");
    assert_eq!(name("192.0.2.4:6380", "192.0.2.4:6380", None), "sessions");
    assert_eq!(name("192.0.2.4:6379", "192.0.2.4:6379", None), ":6379");
    assert_eq!(name("10.2.0.1:5432", "10.2.0.1:5432", Some("orders-1.db.example.com")), "orders");
    assert_eq!(
        name("10.2.0.1:5432", "10.2.0.1:5432", Some("orders.db.example.com")),
        "orders.db.example.com:5432"
    );
    assert_eq!(name("10.2.0.1:7000", "10.2.0.1:7000", None), "cached");
}

#[test]
fn wrong_patterns_say_what_to_write() {
    let wrong = |text: &str| toml::from_str::<Rule>(text).unwrap_err().to_string();
    assert!(wrong("name = 'a'\naddresses = ['10.1.0.0/40']").contains("write a network such as"));
    assert!(wrong("name = 'a'\nnames = ['[']").contains("'[' is no pattern"));
    assert!(wrong("name = 'a'\nadresses = []").contains("unknown field"));
    assert!(wrong("name = 'a'\nports = [0]").contains("nonzero"));
    assert!(wrong("name = ' '\nports = [1]").contains("empty name"));
    assert!(wrong("name = \"a\\u001b[2J\"\nports = [1]").contains(r"'a\u{1b}[2J'"));
    assert!(wrong("name = 'a'\nvirtual = true").contains("'a' matches nothing"));
    for text in ["::ffff:10.1.0.7", "10.1.0.7", "10.1.0.7/32", "[::ffff:10.1.0.7]:80"] {
        let pattern = AddressPattern::try_from(text.to_owned()).unwrap();
        assert!(pattern.contains(endpoint("10.1.0.7:80")), "{text}");
        assert!(!pattern.contains(endpoint("10.1.0.8:80")), "{text}");
    }
}

#[test]
fn an_instance_is_where_the_connection_ends() {
    let (client, dialled) = (endpoint("10.244.1.5:40000"), endpoint("10.96.0.1:80"));
    let backend = endpoint("10.244.2.7:8080");
    let mut translations = Translations::default();
    let none = Services::default();

    let place = |remote, translations: &Translations, services: &Services| {
        let location = locate(client, dialled, remote, translations, services);
        (location.instance, location.reach)
    };
    assert_eq!(place(dialled, &translations, &none), (dialled, Reach::Direct));
    assert_eq!(place(backend, &translations, &none), (backend, Reach::Translated), "in its own namespace");
    let configured = services("[[service]]\nname = 'vip'\naddresses = ['10.96.0.0/12']\nvirtual = true");
    assert_eq!(place(dialled, &translations, &configured), (dialled, Reach::Unresolved));

    // Another client's connection shows that the address is virtual.
    let other = Translation { client: endpoint("10.244.1.6:40000"), dialled, backend };
    translations.apply(Change::New(other));
    assert_eq!(place(dialled, &translations, &none), (dialled, Reach::Unresolved));
    translations.apply(Change::New(Translation { client, dialled, backend }));
    assert_eq!(place(dialled, &translations, &none), (backend, Reach::Translated));
    translations.apply(Change::Gone(Translation { client, dialled, backend: endpoint("10.244.2.8:8080") }));
    assert_eq!(
        place(dialled, &translations, &none),
        (backend, Reach::Translated),
        "another connection's end"
    );
    translations.apply(Change::Gone(Translation { client, dialled, backend }));
    assert_eq!(place(dialled, &translations, &none), (dialled, Reach::Unresolved));
}
