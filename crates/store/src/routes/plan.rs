//! The channels of firings.

use std::collections::{HashMap, HashSet};

use alerts::routing::{ChannelRoute, RouteDelivery};
use uuid::Uuid;

use super::account::stored_route;
use super::usable::{RoutedChannel, UsableChannelRow, usable_channel};
use crate::bulk::{Statement, query_many};
use crate::{Store, StoreError};

const ROUTES: Statement = Statement {
    before: "SELECT account_id, route FROM notification_routes WHERE account_id IN (VALUES ",
    columns: 1,
    after: ")",
};

const USABLE: Statement = Statement {
    before: usable_channel!("c.id IN (VALUES "),
    columns: 1,
    after: ")",
};

/// The channels to which a firing goes, at least one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RoutePlan {
    pub(crate) channels: Vec<RoutedChannel>,
    pub(crate) delivery: RouteDelivery,
}

impl Store {
    /// Returns the channels of firings, each of an account and with the route of its alert. `None` for a firing that goes to the
    /// account's own address or number.
    pub(crate) async fn route_plans(
        &self,
        firings: &[(Option<Uuid>, Option<&ChannelRoute>)],
    ) -> Result<Vec<Option<RoutePlan>>, StoreError> {
        let by_account = self.routes_of_accounts(firings).await?;
        let routes = firings.iter().map(|(account, own)| {
            let account = (*account)?;
            let route = own.or_else(|| by_account.get(&account))?;
            Some((account, route))
        });
        let routes: Vec<Option<(Uuid, &ChannelRoute)>> = routes.collect();
        let ids: HashSet<Uuid> = routes
            .iter()
            .flatten()
            .flat_map(|(_, route)| route.channels())
            .copied()
            .collect();
        let ids: Vec<Uuid> = ids.into_iter().collect();
        let rows = query_many!(UsableChannelRow, &self.pools, USABLE, &ids, |query, id| query.bind(*id));
        let mut usable: HashMap<(Uuid, Uuid), RoutedChannel> = HashMap::with_capacity(rows.len());
        for row in rows {
            usable.insert((row.account_id, row.id), row.channel()?);
        }
        let plans = routes.into_iter().map(|route| {
            let (account, route) = route?;
            let channels = route.channels().iter();
            let channels: Vec<RoutedChannel> = channels.filter_map(|id| usable.get(&(account, *id)).copied()).collect();
            (!channels.is_empty()).then_some(RoutePlan {
                channels,
                delivery: route.delivery,
            })
        });
        Ok(plans.collect())
    }

    async fn routes_of_accounts(
        &self,
        firings: &[(Option<Uuid>, Option<&ChannelRoute>)],
    ) -> Result<HashMap<Uuid, ChannelRoute>, StoreError> {
        let without_route = firings.iter().filter(|(_, own)| own.is_none());
        let accounts: HashSet<Uuid> = without_route.filter_map(|(account, _)| *account).collect();
        let accounts: Vec<Uuid> = accounts.into_iter().collect();
        let found = query_many!((Uuid, String), &self.pools, ROUTES, &accounts, |query, account| query
            .bind(*account));
        let routes = found
            .into_iter()
            .map(|(account, route)| Ok((account, stored_route(&route)?)));
        routes.collect()
    }
}
