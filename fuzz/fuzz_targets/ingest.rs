//! Parses arbitrary bytes as pushed market data: every element is accepted or rejected, without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sources::ingest::parse;

fuzz_target!(|bytes: &[u8]| {
    let now = "2024-03-08T15:00:00Z".parse().unwrap();
    let Ok(ingested) = parse(bytes, now) else { return };
    assert_eq!(ingested.batch.len(), ingested.accepted.values().sum::<usize>());
    let body: serde_json::Value = serde_json::from_slice(bytes).unwrap();
    for (kind, accepted) in &ingested.accepted {
        let rejected = ingested.rejected.iter().filter(|row| row.kind == *kind).count();
        assert_eq!(accepted + rejected, body[*kind].as_array().unwrap().len());
    }
});
