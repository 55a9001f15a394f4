//! Dynamically registered OAuth clients.

use jiff::Timestamp;
use uuid::Uuid;

use crate::columns::{Table, json_list};
use crate::database::query;
use crate::model::{OAuthClientId, RegisteredClient};
use crate::sqlite::row;
use crate::unit_of_work::{fetch, write_rows};
use crate::{Store, StoreError, UnitOfWork};

const TABLE: Table = Table("oauth_clients");

row! {
    struct ClientRow {
        id: String,
        name: String,
        redirect_uris: String,
        created_at: i64,
    }
}

impl TryFrom<ClientRow> for RegisteredClient {
    type Error = StoreError;

    fn try_from(row: ClientRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: OAuthClientId(Uuid::try_parse(&row.id).map_err(|error| TABLE.corrupt(error))?),
            name: row.name,
            redirect_uris: TABLE.list(&row.redirect_uris)?,
            created_at: TABLE.instant(row.created_at)?,
        })
    }
}

impl Store {
    /// Returns a registered client.
    pub async fn oauth_client(&self, id: OAuthClientId) -> Result<Option<RegisteredClient>, StoreError> {
        let sql = "SELECT id, name, redirect_uris, created_at FROM oauth_clients WHERE id = $1";
        let row = query!(fetch_optional ClientRow, &self.pools, sql, id.0.to_string())?;
        row.map(RegisteredClient::try_from).transpose()
    }
}

impl UnitOfWork {
    /// Inserts a client that registers itself. If `limit` clients exist (or a few more, with concurrent processes),
    /// one is evicted: the oldest client that was never granted anything; else the least recently used one without a
    /// live grant; else the least recently used one. Grants survive the eviction of their client.
    pub async fn insert_oauth_client(&mut self, client: &RegisteredClient, limit: u32) -> Result<(), StoreError> {
        let (count,) = fetch!(self, fetch_one(i64,), "SELECT COUNT(*) FROM oauth_clients");
        if count >= i64::from(limit) {
            self.evict_oauth_client(client.created_at).await?;
        }
        write_rows!(
            self,
            "INSERT INTO oauth_clients (id, name, redirect_uris, created_at) VALUES ($1, $2, $3, $4)",
            client.id.0.to_string(),
            &client.name,
            json_list(&client.redirect_uris),
            client.created_at.as_microsecond(),
        );
        Ok(())
    }

    async fn evict_oauth_client(&mut self, now: Timestamp) -> Result<(), StoreError> {
        // Separate statements, so that each uses an index.
        let unused = "DELETE FROM oauth_clients WHERE seq =
                      (SELECT seq FROM oauth_clients WHERE last_used_at IS NULL ORDER BY created_at, seq LIMIT 1)";
        if write_rows!(self, unused) > 0 {
            return Ok(());
        }
        let idle = "DELETE FROM oauth_clients WHERE seq =
                    (SELECT seq FROM oauth_clients WHERE last_used_at IS NOT NULL AND NOT EXISTS
                         (SELECT 1 FROM oauth_grants WHERE client_id = oauth_clients.id AND ended_at IS NULL AND expires_at > $1)
                     ORDER BY last_used_at, seq LIMIT 1)";
        if write_rows!(self, idle, now.as_microsecond()) > 0 {
            return Ok(());
        }
        let any = "DELETE FROM oauth_clients WHERE seq =
                   (SELECT seq FROM oauth_clients WHERE last_used_at IS NOT NULL ORDER BY last_used_at, seq LIMIT 1)";
        write_rows!(self, any);
        Ok(())
    }

    /// Records that a client was granted access or has refreshed its tokens.
    pub async fn touch_oauth_client(&mut self, id: OAuthClientId, at: Timestamp) -> Result<(), StoreError> {
        let sql = "UPDATE oauth_clients SET last_used_at = $2 WHERE id = $1 AND COALESCE(last_used_at, $2 - 1) < $2";
        write_rows!(self, sql, id.0.to_string(), at.as_microsecond());
        Ok(())
    }
}
