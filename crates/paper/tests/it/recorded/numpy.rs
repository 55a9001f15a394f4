//! The same figures computed by NumPy, if Python with NumPy is installed.

use std::process::Command;

use paper::{Direction, Trade};
use serde_json::json;

use crate::recorded::data::RecordedMarket;

/// Returns the level of all trades at each session, 1 before the first. Without NumPy, prints a message and returns
/// `None`.
pub(crate) fn returns(market: &RecordedMarket, trades: &[Trade]) -> Option<Vec<f64>> {
    let found = Command::new("python3").args(["-c", "import numpy"]).output();
    if !found.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: there is no python3 with numpy");
        return None;
    }
    let sessions = market.sessions.iter();
    let sessions = sessions.map(|session| {
        json!([
            session.date.to_string(),
            session.open.as_second(),
            session.close.as_second()
        ])
    });
    let fill = |fill: paper::Fill| json!([fill.at.as_second(), fill.price.to_string()]);
    let trades = trades.iter().map(|trade| {
        json!({
            "symbol": trade.symbol.as_str(),
            "sign": if trade.direction == Direction::Long { 1 } else { -1 },
            "entry": fill(trade.entry),
            "exit": trade.exit.map(fill),
        })
    });
    let inputs = json!({
        "folder": market.folder,
        "sessions": sessions.collect::<Vec<_>>(),
        "trades": trades.collect::<Vec<_>>(),
    });
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inputs.json");
    std::fs::write(&file, inputs.to_string()).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/recorded/performance.py");
    let output = Command::new("python3").arg(script).arg(file).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}
