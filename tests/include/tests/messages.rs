//! The text of each message is in fail/*.stderr. `TRYBUILD=overwrite` writes what the compiler says now.

#[test]
fn messages() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("fail/*.rs");
    cases.pass("pass/*.rs");
}
