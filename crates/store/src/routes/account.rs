//! The routes of accounts.

use alerts::routing::{ChannelRoute, read_route};

use crate::columns::Table;
use crate::database::query;
use crate::model::AccountId;
use crate::unit_of_work::write_rows;
use crate::{Store, StoreError, UnitOfWork};

const TABLE: Table = Table("notification_routes");

/// Reads a stored route.
pub(super) fn stored_route(text: &str) -> Result<ChannelRoute, StoreError> {
    let members = TABLE.object(text)?;
    match read_route(&members) {
        Ok(Some(route)) => Ok(route),
        Ok(None) | Err(_) => Err(TABLE.corrupt("a route is invalid")),
    }
}

impl Store {
    /// Returns the route of an account.
    pub async fn notification_route(&self, account: AccountId) -> Result<Option<ChannelRoute>, StoreError> {
        let sql = "SELECT route FROM notification_routes WHERE account_id = $1";
        let found = query!(fetch_optional(String,), &self.pools, sql, account.0)?;
        found.map(|(route,)| stored_route(&route)).transpose()
    }
}

impl UnitOfWork {
    /// Sets the route of an account, or removes it.
    pub async fn set_notification_route(
        &mut self,
        account: AccountId,
        route: Option<&ChannelRoute>,
    ) -> Result<(), StoreError> {
        match route {
            Some(route) => {
                let sql = "INSERT INTO notification_routes (account_id, route) VALUES ($1, $2)
                           ON CONFLICT (account_id) DO UPDATE SET route = excluded.route";
                let route = serde_json::Value::Object(route.to_json()).to_string();
                write_rows!(self, sql, account.0, route.as_str());
            }
            None => {
                let sql = "DELETE FROM notification_routes WHERE account_id = $1";
                write_rows!(self, sql, account.0);
            }
        }
        Ok(())
    }
}
