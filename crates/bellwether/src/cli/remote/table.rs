//! Tables on a terminal.

use std::fmt::Write;

/// The widest column; longer texts are cut.
const MAX_WIDTH: usize = 60;

/// Returns rows as a table with a header. The last column is not padded.
pub(in crate::cli) fn table<const N: usize>(header: [&str; N], rows: &[[String; N]]) -> String {
    let header = header.map(str::to_owned);
    let rows: Vec<[String; N]> = rows
        .iter()
        .map(|row| row.clone().map(|cell| cell_text(&cell)))
        .collect();
    let all = || std::iter::once(&header).chain(&rows);
    let widths: Vec<usize> = (0..N)
        .map(|column| all().map(|row| row[column].chars().count()).max().unwrap_or_default())
        .collect();
    let mut text = String::new();
    for row in all() {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            // Writing to a string cannot fail.
            let _ = write!(line, "{cell:width$}  ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Returns a text on one line without control characters, which could change what a terminal shows.
fn cell_text(text: &str) -> String {
    let mut cell: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if cell.chars().count() > MAX_WIDTH {
        cell = cell.chars().take(MAX_WIDTH - 1).chain(['…']).collect();
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let rows = [
            ["AAPL".to_owned(), "a".to_owned()],
            ["BF-B".to_owned(), "x\u{1b}[2J\ny".to_owned()],
        ];
        assert_eq!(
            table(["symbol", "note"], &rows),
            "symbol  note\nAAPL    a\nBF-B    x [2J y\n"
        );
    }

    #[test]
    fn long_cells_are_cut() {
        let text = table(["note"], &[["x".repeat(100)]]);
        assert_eq!(text.lines().nth(1).map(|line| line.chars().count()), Some(MAX_WIDTH));
    }
}
