//! The route of an account, for its alerts without one.

use alerts::routing::{ChannelRoute, parse_route};
use foundation::account::lock_active_account;
use foundation::route_check::check_route;
use foundation::{Actor, ServiceError};
use serde_json::Value;

use super::NotificationChannels;

impl NotificationChannels {
    /// Returns the route of the actor's account. `None`: messages go to the account's own address or number.
    ///
    /// # Errors
    /// [`ServiceError`] if the database fails.
    pub async fn route(&self, actor: &Actor) -> Result<Option<ChannelRoute>, ServiceError> {
        Ok(self.ports.store.notification_route(actor.account).await?)
    }

    /// Sets the route of the actor's account with a body `{channels, policy?, ack_timeout?}`. Without channels the route is removed.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] and [`ServiceError::Invalid`] for an invalid body or an unknown channel;
    /// [`ServiceError::Forbidden`] while the account is deactivated.
    pub async fn set_route(&self, actor: &Actor, body: &Value) -> Result<Option<ChannelRoute>, ServiceError> {
        let route = parse_route(body)?;
        let transaction = self
            .ports
            .transaction((actor.account, route.clone()), |&(account, ref route), unit| {
                Box::pin(async move {
                    lock_active_account(unit, account).await?;
                    if let Some(route) = route {
                        check_route(unit, account, route).await?;
                    }
                    Ok(unit.set_notification_route(account, route.as_ref()).await?)
                })
            });
        transaction.await?;
        Ok(route)
    }
}
