//! Filtered, sorted and paged lists of alerts.

use sqlx::AssertSqlSafe;

use super::row::{AlertRow, TABLE};
use super::scopes::{has_member, select_shown, shown_status};
use crate::columns::values;
use crate::database::dispatch;
use crate::model::{AccountId, AlertFilter, AlertSort, AlertSortField, Page, PageRequest, StoredAlert};
use crate::{Store, StoreError};

/// An absent filter is null, and a null matches every row. An alert over many stocks matches the symbols of its members.
const FILTER_SQL: &str = concat!(
    "LEFT JOIN stocks ON stocks.symbol = alerts.symbol
    WHERE account_id = $1 AND deleted_at IS NULL AND parent_seq IS NULL AND condition = COALESCE($3, condition)
    AND ($2 = ",
    shown_status!(),
    " OR $2 IS NULL) AND (alerts.symbol = COALESCE($4, alerts.symbol) OR ",
    has_member!(" AND m.symbol = $4"),
    ")"
);

/// Two `LIKE` patterns: symbols are stored in upper case, names are searched in lower case.
const SEARCH_SQL: &str = concat!(
    r" AND (alerts.symbol LIKE $5 ESCAPE '\' OR stocks.name_lower LIKE $6 ESCAPE '\' OR ",
    has_member!(r" AND m.symbol LIKE $5 ESCAPE '\'"),
    ")"
);

/// Returns the condition that an alert has each of `count` tags, whose parameters begin at number `first`.
fn tags_sql(first: usize, count: usize) -> String {
    let condition = |parameter| {
        format!(" AND alerts.seq IN (SELECT alert_seq FROM alert_tags WHERE account_id = $1 AND tag = ${parameter})")
    };
    (first..first + count).map(condition).collect()
}

/// No name is longer, and SQLite rejects patterns over 50000 bytes.
const MAX_SEARCH_BYTES: usize = 1000;

/// The column that a list is sorted by.
const fn sort_column(field: AlertSortField) -> &'static str {
    match field {
        AlertSortField::CreatedAt => "alerts.created_at",
        AlertSortField::Symbol => "alerts.symbol",
        AlertSortField::Condition => "condition",
        AlertSortField::Status => "status",
        AlertSortField::Threshold => "threshold",
        AlertSortField::TriggeredAt => "triggered_at",
        AlertSortField::InitialPrice => "initial_price",
    }
}

/// A `LIKE` pattern that finds a text anywhere. Wildcards in the text are escaped.
fn like_pattern(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() + 2);
    pattern.push('%');
    for character in text.chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern.push('%');
    pattern
}

impl Store {
    /// Returns one page of an account's alerts.
    pub async fn alerts(
        &self,
        account: AccountId,
        filter: &AlertFilter,
        sort: AlertSort,
        page: PageRequest,
    ) -> Result<Page<StoredAlert>, StoreError> {
        let search = filter.search.as_deref().filter(|text| !text.is_empty());
        if search.is_some_and(|text| text.len() > MAX_SEARCH_BYTES || text.contains('\0')) {
            return Ok(Page {
                items: Vec::new(),
                total: 0,
            });
        }
        let status = filter.status.map(alerts::Status::name);
        let condition = filter.condition.map(alerts::ConditionKind::name);
        let symbol = filter.symbol.as_ref().map(market::Symbol::as_str);
        let patterns = search.map(|text| {
            (
                like_pattern(&text.to_ascii_uppercase()),
                like_pattern(&text.to_lowercase()),
            )
        });
        let (search_sql, first_tag) = if patterns.is_some() { (SEARCH_SQL, 7) } else { ("", 5) };
        let tags = filter.tags.as_slice();
        let tags_sql = tags_sql(first_tag, tags.len());

        let count = format!("SELECT COUNT(*) FROM alerts {FILTER_SQL}{search_sql}{tags_sql}");
        let order = if sort.ascending { "ASC" } else { "DESC" };
        let list = format!(
            "{}{FILTER_SQL}{search_sql}{tags_sql} ORDER BY {} {order} NULLS LAST, alerts.seq DESC LIMIT {} OFFSET {}",
            select_shown!(""),
            sort_column(sort.field),
            page.limit,
            page.offset(),
        );
        let (total, rows) = dispatch!(&self.pools, pool => {
            let mut count = sqlx::query_as::<_, (i64,)>(AssertSqlSafe(count))
                .bind(account.0).bind(status).bind(condition).bind(symbol);
            let mut list = sqlx::query_as::<_, AlertRow>(AssertSqlSafe(list))
                .bind(account.0).bind(status).bind(condition).bind(symbol);
            if let Some((symbol, name)) = &patterns {
                count = count.bind(symbol).bind(name);
                list = list.bind(symbol).bind(name);
            }
            for tag in tags {
                count = count.bind(tag);
                list = list.bind(tag);
            }
            // The text contains the page number, so caching the prepared statement is useless.
            (count.fetch_one(pool).await?.0, list.persistent(false).fetch_all(pool).await?)
        });
        let items = values(rows)?;
        let total = TABLE.narrow("COUNT(*)", total)?;
        Ok(Page { items, total })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_pattern_escapes_wildcards() {
        assert_eq!(like_pattern(r"50%_\o"), r"%50\%\_\\o%");
    }
}
