//! The same figures by NumPy, where there is a Python with it.

use std::process::Command;

use paper::{Direction, Trade};
use serde_json::json;

use crate::data::Market;

/// For each session the level of all trades, 1 before the first; `None`, and a line that says so, without NumPy.
pub(crate) fn returns(market: &Market, trades: &[Trade]) -> Option<Vec<f64>> {
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
    let question = json!({
        "folder": market.folder,
        "sessions": sessions.collect::<Vec<_>>(),
        "trades": trades.collect::<Vec<_>>(),
    });
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("question.json");
    std::fs::write(&file, question.to_string()).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recorded/performance.py");
    let output = Command::new("python3").arg(script).arg(file).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}
