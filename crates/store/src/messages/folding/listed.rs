//! The firings that a message lists.

use std::collections::HashMap;

use crate::bulk::{Statement, query_many};
use crate::database::query;
use crate::model::FoldedFirings;
use crate::{Store, StoreError};

/// Maximum number of firings that a message lists.
const MAX_LISTED: i64 = 50;

const COUNTS: Statement = Statement {
    before: "SELECT folded_into, COUNT(*) FROM messages WHERE folded_into IN (VALUES ",
    columns: 1,
    after: ") GROUP BY folded_into",
};

impl Store {
    /// Returns the firings that some messages list, each with that of the message itself first. Messages with one firing are missing.
    pub(in crate::messages) async fn folded_firings(
        &self,
        messages: &[i64],
    ) -> Result<HashMap<i64, FoldedFirings>, StoreError> {
        let counts = query_many!((i64, i64), &self.pools, COUNTS, messages, |query, seq| query.bind(*seq));
        let mut found = HashMap::with_capacity(counts.len());
        for (message, folded) in counts {
            let sql = "SELECT e.data FROM messages m JOIN events e ON e.seq = m.event_seq
                       WHERE m.seq = $1 OR m.folded_into = $1 ORDER BY m.seq LIMIT $2";
            let listed = query!(fetch_all(String,), &self.pools, sql, message, MAX_LISTED)?;
            let folded = u64::try_from(folded).unwrap_or_default();
            let firings = FoldedFirings {
                listed: listed.into_iter().map(|(data,)| data).collect(),
                total: folded.saturating_add(1),
            };
            found.insert(message, firings);
        }
        Ok(found)
    }
}
