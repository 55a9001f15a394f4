//! Arbitrary bars and splits with alerts of every price family: the replay ends without a panic, in time order.
#![no_main]

use std::ops::ControlFlow;
use std::path::Path;

use bellwether::alerts_file::parse_bodies;
use bellwether::replay::{Firing, Replay, Span};
use libfuzzer_sys::fuzz_target;
use market::Calendar;
use sources::folder::{Table, TableLoader};

const ALERTS: &str = r#"[
    {"symbol": "A", "condition": "price_above", "threshold": 11},
    {"symbol": "A", "condition": "price_below", "threshold": 9},
    {"symbol": "A", "condition": "price_change_up", "threshold": 5},
    {"symbol": "A", "condition": "price_change_down", "threshold": 5},
    {"symbol": "A", "condition": "new_high"},
    {"symbol": "A", "condition": "new_low"},
    {"symbol": "A", "condition": "ma_touch_above", "threshold": 2},
    {"symbol": "A", "condition": "ma_touch_below", "threshold": 3},
    {"symbol": "A", "condition": "rsi_limit", "threshold": 50, "parameters": {"direction": "both"}},
    {"symbol": "A", "condition": "volume_change", "threshold": 10}
]"#;

fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(2, |&byte| byte == 0);
    let (bars, splits) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let calendar = Calendar::nyse();
    let mut loader = TableLoader::new(&calendar);
    let bars = [b"symbol,date,open,high,low,close,volume\n".as_slice(), bars].concat();
    let splits = [b"symbol,date,ratio\n".as_slice(), splits].concat();
    let _ = loader.read_table(Table::Bars, Path::new("bars.csv"), bars.as_slice());
    let _ = loader.read_table(Table::Splits, Path::new("splits.csv"), splits.as_slice());
    let (data, _) = loader.finish();
    let Ok(span) = Span::of(&data, None, None) else { return };
    let bodies: Vec<serde_json::Value> = serde_json::from_str(ALERTS).unwrap();
    let alerts = parse_bodies(&bodies, &calendar, span.start()).unwrap();
    let mut last = None;
    let replay = Replay::new(&data, &calendar, span, alerts, |firing: Firing| {
        assert!(last <= Some(firing.time));
        last = Some(firing.time);
        ControlFlow::Continue(())
    });
    replay.run(|_| ());
});
