//! Pages that are merged from several statements in one order.

/// Returns the statement that merges the rows of statements, of each the first `limit` in an order, a parameter such as `$4`. An index
/// finds these rows. Without the limit of each part, PostgreSQL reads all rows of all parts and sorts them.
pub(crate) fn merged(parts: impl IntoIterator<Item = String>, order: &str, limit: &str) -> String {
    let parts = parts.into_iter().enumerate();
    let parts =
        parts.map(|(number, part)| format!("SELECT * FROM ({part} ORDER BY {order} LIMIT {limit}) part{number}"));
    let parts: Vec<String> = parts.collect();
    format!("{} ORDER BY {order}", parts.join(" UNION ALL "))
}
