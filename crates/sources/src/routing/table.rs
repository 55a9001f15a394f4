//! Text tables.

/// Formats rows as a table with aligned columns; the first row is the header. A column whose header ends in `>` is
/// right-aligned.
pub(super) fn format_table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let is_number: Vec<bool> = (0..columns)
        .map(|column| {
            rows.first()
                .and_then(|head| head.get(column))
                .is_some_and(|name| name.ends_with('>'))
        })
        .collect();
    let shown = |text: &str| text.trim_end_matches('>').to_owned();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| shown(cell).chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().enumerate().map(|(column, cell)| {
            let (cell, width) = (shown(cell), widths[column]);
            if is_number[column] {
                format!("{cell:>width$}")
            } else {
                format!("{cell:<width$}")
            }
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
