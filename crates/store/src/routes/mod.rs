//! Routes: to which notification channels the messages about firings go.
//!
//! The route of an alert is a part of the alert. The route of an account, for its alerts without one, has its own table ([`account`]).
//! The transaction of a firing uses the channels as [`plan`] found them: enabled, verified and not deleted. A firing whose route has no
//! such channel goes to the account's own address or number.

mod account;
mod plan;
mod usable;

pub(crate) use plan::RoutePlan;
pub(crate) use usable::{RoutedChannel, RoutedTarget, UsableChannelRow, channel_endpoint, usable_channel};
