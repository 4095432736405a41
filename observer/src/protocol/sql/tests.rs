//! Classes of SQL texts.

use super::{Dialect, Extent, write_class};
use crate::protocol::text::Text;

fn class(text: &str, dialect: Dialect, cut: bool, sole: bool) -> String {
    let mut class = Text::new();
    write_class(text.as_bytes(), dialect, Extent { cut, sole }, &mut class);
    class.as_str().into()
}

fn whole(text: &str) -> String {
    class(text, Dialect::PostgreSql, false, false)
}

#[test]
fn verb_and_main_table_are_found() {
    for (text, expected) in [
        ("SELECT abalance FROM pgbench_accounts WHERE aid = 12345;", "SELECT pgbench_accounts"),
        ("select * from public.Accounts a join b on a.i = b.i", "SELECT accounts"),
        ("SELECT \"id\" FROM \"shop\".\"Orders\" WHERE x = $1", "SELECT orders"),
        ("SELECT extract(year FROM ts), trim(both from x) FROM events", "SELECT events"),
        ("SELECT (SELECT max(x) FROM inner_one) FROM outer_one", "SELECT outer_one"),
        ("SELECT count(*) FROM (SELECT id FROM users WHERE a) u", "SELECT users"),
        ("SELECT * FROM (a JOIN b USING (x))", "SELECT a"),
        ("SELECT 'it''s FROM x' FROM y", "SELECT y"),
        ("SELECT $tag$ FROM x $tag$ FROM y", "SELECT y"),
        ("SELECT E'\\' FROM x' FROM y", "SELECT y"),
        ("SELECT 1 -- FROM x\n FROM y", "SELECT y"),
        ("/* app:shop */ SELECT * FROM y", "SELECT y"),
        ("INSERT INTO t (a) VALUES (1)", "INSERT t"),
        ("UPDATE ONLY t SET a = 1", "UPDATE t"),
        ("DELETE FROM t WHERE a = 1", "DELETE t"),
        ("WITH x AS (SELECT a FROM b), y AS (SELECT 1) INSERT INTO t SELECT * FROM x", "INSERT t"),
        ("WITH RECURSIVE x(n) AS (SELECT 1) SELECT n FROM x", "SELECT x"),
        ("MERGE INTO t USING s ON true WHEN MATCHED THEN DELETE", "MERGE t"),
        ("TRUNCATE TABLE t", "TRUNCATE t"),
        ("CALL pay(1, 'x')", "CALL pay"),
        ("SELECT * FROM events_2024_01", "SELECT events_{n}_{n}"),
        ("BEGIN", "BEGIN"),
        ("commit;", "COMMIT"),
        ("SET search_path TO joe", "SET"),
        ("CREATE TABLE x (a int)", "CREATE"),
        ("(SELECT a FROM b) UNION (SELECT a FROM c)", "SELECT b"),
        (";", "EMPTY"),
        ("-- ping", "EMPTY"),
        ("BEGIN; UPDATE t SET a = 1; COMMIT", "batch"),
        ("UPDATE t SET a = 1; UPDATE u SET a = 1;", "batch UPDATE"),
    ] {
        assert_eq!(whole(text), expected, "{text}");
    }
}

#[test]
fn dialects_differ() {
    let mysql = |text| class(text, Dialect::MySql, false, false);
    assert_eq!(mysql("SELECT `a` FROM `shop`.`orders` # FROM x"), "SELECT orders");
    assert_eq!(mysql("SELECT \"it's FROM x\" FROM y"), "SELECT y");
    assert_eq!(mysql("SELECT 'a\\' FROM x' FROM y"), "SELECT y");
    assert_eq!(mysql("INSERT IGNORE INTO t VALUES (1)"), "INSERT t");
    assert_eq!(mysql("REPLACE t VALUES (1)"), "REPLACE t");
    assert_eq!(mysql("SELECT @@version"), whole("SELECT @@version"));
}

#[test]
fn without_a_table_the_shape_is_hashed() {
    assert!(whole("SELECT 1").starts_with("SELECT #"));
    assert_eq!(whole("SELECT 1"), whole("select  'x' ;"));
    assert_eq!(whole("SELECT f(1, 2, 3)"), whole("SELECT f($1)"));
    assert_ne!(whole("SELECT f(1)"), whole("SELECT g(1)"));
    assert!(whole("FROBNICATE x").starts_with("SQL #"));
    assert!(whole("SELECT a FROM \"j\u{f6}rg\"").starts_with("SELECT #"));
}

#[test]
fn a_cut_text_says_so() {
    let cut = |text| class(text, Dialect::PostgreSql, true, true);
    for (text, expected) in [
        ("SELECT a FROM accounts WHERE x", "SELECT accounts"),
        ("SELECT a FROM acco", "SELECT…"),
        ("SELECT a FROM accounts", "SELECT…"),
        ("SELECT a FROM public.", "SELECT…"),
        ("SELECT a, b, c", "SELECT…"),
        ("SELECT 'x FROM y WHERE ", "SELECT…"),
        ("SELE", "SQL…"),
        ("/* a long comm", "SQL…"),
        ("WITH x AS (SELECT", "WITH…"),
    ] {
        assert_eq!(cut(text), expected, "{text}");
    }
    let may_go_on = |text| class(text, Dialect::PostgreSql, true, false);
    assert_eq!(may_go_on("SELECT a FROM accounts WHERE x"), "SELECT accounts…");
    assert_eq!(may_go_on("UPDATE t SET a = 1; UPDATE u SET"), "batch UPDATE…");
    assert_eq!(may_go_on("BEGIN; UPDATE u SET"), "batch");
}
