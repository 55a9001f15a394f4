//! Pages that are merged from several statements in one order.

/// Returns the statement that merges the rows of several statements. `order` is the order of all, and `limit` the parameter with the
/// number of rows to read from each, such as `$4`. Without this limit, PostgreSQL reads and sorts all rows instead of using an index.
pub(crate) fn merged(parts: impl IntoIterator<Item = String>, order: &str, limit: &str) -> String {
    let parts = parts.into_iter().enumerate();
    let parts =
        parts.map(|(number, part)| format!("SELECT * FROM ({part} ORDER BY {order} LIMIT {limit}) part{number}"));
    let parts: Vec<String> = parts.collect();
    format!("{} ORDER BY {order}", parts.join(" UNION ALL "))
}
