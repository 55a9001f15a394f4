use super::*;
use proptest::prelude::*;

/// Returns the members of all objects of an array, as text.
fn members(json: &str) -> Result<Vec<(String, String)>, MalformedJson> {
    let mut scan = JsonScanner::new(json.as_bytes());
    let (mut found, mut is_first) = (Vec::new(), true);
    while scan.next_object(&mut is_first)? {
        let mut is_first = true;
        while let Some((name, value)) = scan.next_member(&mut is_first)? {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            found.push((text(name), text(value.bytes())));
        }
    }
    Ok(found)
}

#[test]
fn finds_members_among_nested_values_and_whitespace() {
    let found = members(r#" [ {"T":"t", "c" : ["@","]"], "p":126.55, "n":{"a":"}"}} ,{}, {"S":"A\"B"} ] "#).unwrap();
    let expected = [
        ("T", "t"),
        ("c", r#"["@","]"]"#),
        ("p", "126.55"),
        ("n", r#"{"a":"}"}"#),
        ("S", r#"A\"B"#),
    ];
    assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    assert_eq!(members("[]"), Ok(Vec::new()));
}

#[test]
fn truncated_or_invalid_json_is_malformed() {
    for json in [
        "",
        "[",
        "[{",
        r#"[{"T"#,
        r#"[{"T":"#,
        r#"[{"T":"t"}"#,
        r#"[{"T":}]"#,
        r#"[{T:1}]"#,
        r#"{"T":1}"#,
        r#"[{"a":[1}"#,
        "[1]",
    ] {
        assert_eq!(members(json), Err(MalformedJson), "{json}");
    }
}

#[test]
fn reads_prices_timestamps_and_tickers() {
    let price = |text: &str| ScannedValue::Bare(text.as_bytes()).price().map(Price::micros);
    assert_eq!(price("126.55"), Some(126_550_000));
    assert_eq!(price("1.2655e2"), Some(126_550_000));
    assert_eq!(price("0"), None);
    assert_eq!(price("-1.5"), None);
    assert_eq!(price("null"), None);
    assert_eq!(ScannedValue::Text(b"BRK.B").symbol(), "BRK.B".parse().ok());
    assert_eq!(ScannedValue::Text(b"BACpL").symbol(), None);
    assert_eq!(ScannedValue::Bare(b"100.7").shares(), Some(100));
}

proptest! {
    #[test]
    fn number_matches_the_general_parser(text in "-?[0-9]{0,20}(\\.[0-9]{0,9})?([eE][+-]?[0-9]{1,3})?") {
        prop_assert_eq!(ScannedValue::Bare(text.as_bytes()).decimal(), text.parse().ok());
    }

    #[test]
    fn plain_timestamp_matches_the_general_parser(
        second in -62_135_596_800_i64..253_402_207_200,
        nanosecond in prop_oneof![Just(0), 0_i32..1_000_000_000, (0_i32..1_000).prop_map(|millis| millis * 1_000_000)],
    ) {
        let time = Timestamp::new(second, nanosecond).unwrap();
        prop_assert_eq!(ScannedValue::Text(time.to_string().as_bytes()).time(), Some(time));
    }

    #[test]
    fn unusual_timestamp_matches_the_general_parser(
        text in "2024-[0-9]{2}-[0-3][0-9][Tt ][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{0,10})?(Z|[+-]0[0-9]:00)?",
    ) {
        prop_assert_eq!(ScannedValue::Text(text.as_bytes()).time(), text.parse().ok());
    }

    #[test]
    fn reads_all_members_that_serde_writes(
        objects in prop::collection::vec(prop::collection::btree_map("[a-z]{1,3}", any::<i32>(), 0..5), 0..5),
    ) {
        let json = serde_json::to_string(&objects).unwrap();
        let expected: Vec<_> = objects.iter().flatten().map(|(name, value)| (name.clone(), value.to_string())).collect();
        prop_assert_eq!(members(&json), Ok(expected));
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(prop_oneof![
        Just(b'['), Just(b'{'), Just(b'"'), Just(b'}'), Just(b']'), Just(b':'), Just(b','), Just(b'\\'), any::<u8>(),
    ], 0..60)) {
        let mut scan = JsonScanner::new(&bytes);
        let mut is_first = true;
        while let Ok(true) = scan.next_object(&mut is_first) {
            let mut is_first = true;
            while let Ok(Some((_, value))) = scan.next_member(&mut is_first) {
                let _ = (value.price(), value.time(), value.symbol());
            }
        }
    }
}
