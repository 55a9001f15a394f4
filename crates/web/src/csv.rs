//! Tables for spreadsheets.

use csv::{Terminator, WriterBuilder};

/// Characters with which a spreadsheet begins a formula.
const FORMULA_STARTS: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// Returns a table as comma-separated values (RFC 4180). A cell that a spreadsheet would take for a formula begins with an apostrophe.
#[must_use]
pub fn csv_table<const N: usize>(heading: &[&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(Vec::new());
    // Writing to memory cannot fail.
    let _ = writer.write_record(heading);
    for row in rows {
        let _ = writer.write_record(row.map(without_formula));
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

fn without_formula(cell: String) -> String {
    match cell.starts_with(FORMULA_STARTS) {
        true => format!("'{cell}"),
        false => cell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_formulas_are_disarmed() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned);
        let table = csv_table(&["a", "b"], [row(["x, \"y\"", "=1+1"]), row(["@cmd", "2"])]);
        assert_eq!(table, "a,b\r\n\"x, \"\"y\"\"\",'=1+1\r\n'@cmd,2\r\n");
    }
}
