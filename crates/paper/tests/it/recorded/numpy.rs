//! The same figures computed by NumPy.

use std::path::{Path, PathBuf};
use std::process::Command;

use paper::{Direction, Trade};
use serde_json::json;

use crate::recorded::data::RecordedMarket;

/// Returns the Python interpreter that `scripts/install-test-tools` installs with NumPy; `None` if it is missing. In CI the test
/// fails then.
fn python() -> Option<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = root.join(target).join("python/bin/python");
    if python.exists() {
        return Some(python);
    }
    assert!(std::env::var_os("CI").is_none(), "{} is missing", python.display());
    eprintln!("SKIPPED: NumPy is missing; run scripts/test, which installs it");
    None
}

/// Returns the level of all trades at each session, 1 before the first; `None` if NumPy is missing.
pub(crate) fn returns(market: &RecordedMarket, trades: &[Trade]) -> Option<Vec<f64>> {
    let python = python()?;
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
    let output = Command::new(python).arg(script).arg(file).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}
