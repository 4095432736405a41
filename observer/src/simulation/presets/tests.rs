use super::*;

#[test]
fn every_name_is_a_preset() {
    for name in NAMES {
        let preset = Preset::named(name).unwrap();
        assert_eq!(preset.name, name);
        assert!(preset.cases.iter().all(|case| !case.rows.is_empty()));
    }
    assert_eq!(Preset::named("list"), None);
}
