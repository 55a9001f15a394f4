//! The plan of files for a server, as `plan` and `apply` make it.

use alert_files::{ChannelIds, FileSet, Plan};
use alerts::request::ParseContext;
use client::{Client, RemoteAlertFilter};
use clock::Clock;
use market::Calendar;
use market::calendar::new_york_time_zone;

use super::super::CommandError;
use crate::clock::SystemClock;

/// A plan, and the revision of the source when its alerts were read.
pub(super) struct FreshPlan {
    pub(super) plan: Plan,
    pub(super) source_revision: i64,
}

/// Reads the alerts of the source and compares them with the files.
pub(super) async fn plan(
    client: &Client,
    source: &str,
    files: &FileSet,
    prune: bool,
) -> Result<FreshPlan, CommandError> {
    // The revision first: if the alerts change while they are read, the plan is refused.
    let source_revision = client.source_revision(source).await?;
    let filter = RemoteAlertFilter {
        source: Some(source.to_owned()),
        ..RemoteAlertFilter::default()
    };
    let present = client.alerts(&filter).await?;
    let channels = match files.names_channels() {
        true => channel_ids(client).await?,
        false => ChannelIds::new(),
    };
    let context = ParseContext {
        now: SystemClock.now(),
        time_zone: &new_york_time_zone(),
        calendar: &Calendar::nyse(),
    };
    let plan = Plan::new(source, files, &present, &channels, prune, &context)
        .map_err(|errors| CommandError::Failed(errors.into()))?;
    Ok(FreshPlan { plan, source_revision })
}

async fn channel_ids(client: &Client) -> Result<ChannelIds, CommandError> {
    let mut ids = ChannelIds::new();
    for channel in client.notification_channels().await? {
        ids.entry(channel.name).or_default().push(channel.id);
    }
    Ok(ids)
}
