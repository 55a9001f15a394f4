//! The requests.

use reqwest::StatusCode;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::ClientError;
use crate::firing_stream::FiringStream;
use crate::models::{
    RemoteAlert, RemoteAlertStatus, RemoteChangedAlerts, RemoteDeletedAlert, RemoteExplanation, RemoteFiring,
    RemoteNotificationChannel, RemoteParsedAlert, RemotePreview,
};
use crate::operation as operations;
use crate::transport::{ApiRequest, ClientConfig, Transport};

/// The largest page of alerts.
const ALERTS_PER_PAGE: usize = 100;
/// The largest page of firings.
const FIRINGS_PER_PAGE: usize = 200;

/// A client of one account on one server.
#[derive(Clone)]
pub struct Client {
    transport: Transport,
}

/// A filter for a list of alerts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RemoteAlertFilter {
    /// Only alerts that this source manages.
    pub source: Option<String>,
    /// Only alerts with this status.
    pub status: Option<String>,
    /// Only alerts on this stock.
    pub symbol: Option<String>,
    /// Only alerts that have all these tags.
    pub tags: Vec<String>,
    /// Only alerts whose symbol or company name contains this text.
    pub search: Option<String>,
}

/// The result of a create request.
#[derive(Clone, PartialEq, Debug)]
pub struct RemoteCreatedAlert {
    /// Whether the alert is new. Otherwise it is an equivalent one, which existed already and is unchanged.
    pub is_new: bool,
    /// The alert.
    pub alert: RemoteAlert,
}

impl Client {
    /// Creates a client. Nothing is sent.
    ///
    /// # Errors
    /// [`ClientError::InvalidUrl`]
    pub fn new(config: ClientConfig) -> Result<Self, ClientError> {
        let transport = Transport::new(config)?;
        Ok(Self { transport })
    }

    /// Returns all alerts that match a filter, newest first.
    ///
    /// # Errors
    /// [`ClientError`]
    pub async fn alerts(&self, filter: &RemoteAlertFilter) -> Result<Vec<RemoteAlert>, ClientError> {
        let mut alerts: Vec<RemoteAlert> = Vec::new();
        loop {
            let tags = (!filter.tags.is_empty()).then(|| filter.tags.join(","));
            let request = ApiRequest::new(operations::LIST_ALERTS)
                .query("limit", Some(ALERTS_PER_PAGE))
                .query("after", alerts.last().map(|alert| alert.id))
                .query("source", filter.source.as_ref())
                .query("status", filter.status.as_ref())
                .query("symbol", filter.symbol.as_ref())
                .query("tags", tags)
                .query("search", filter.search.as_ref());
            let page: Vec<RemoteAlert> = self.transport.send(request).await?.data;
            let is_last = page.len() < ALERTS_PER_PAGE;
            alerts.extend(page);
            if is_last {
                return Ok(alerts);
            }
        }
    }

    /// Returns an alert.
    ///
    /// # Errors
    /// [`ClientError`]
    pub async fn alert(&self, id: Uuid) -> Result<RemoteAlert, ClientError> {
        let request = ApiRequest::new(operations::GET_ALERT).of(id);
        Ok(self.transport.send(request).await?.data)
    }

    /// Creates an alert from the body of a create request.
    ///
    /// # Errors
    /// [`ClientError`]
    pub async fn create_alert(&self, body: Map<String, Value>) -> Result<RemoteCreatedAlert, ClientError> {
        let request = ApiRequest::new(operations::CREATE_ALERT).json(Value::Object(body));
        let response = self.transport.send(request).await?;
        Ok(RemoteCreatedAlert {
            is_new: response.status == StatusCode::CREATED,
            alert: response.data,
        })
    }

    /// Deletes an alert.
    ///
    /// # Errors
    /// [`ClientError`]
    pub async fn delete_alert(&self, id: Uuid) -> Result<(), ClientError> {
        let request = ApiRequest::new(operations::DELETE_ALERT).of(id);
        self.transport.send::<RemoteDeletedAlert>(request).await.map(drop)
    }

    /// Pauses an alert.
    ///
    /// # Errors
    /// [`ClientError`]
    pub async fn pause_alert(&self, id: Uuid) -> Result<RemoteAlertStatus, ClientError> {
        let request = ApiRequest::new(operations::PAUSE_ALERT).of(id);
        Ok(self.transport.send(request).await?.data)
    }

    /// Activates an alert with a new initial price.
    ///
    /// # Errors
    /// [`ClientError`]
    pub async fn activate_alert(&self, id: Uuid) -> Result<RemoteAlertStatus, ClientError> {
        let request = ApiRequest::new(operations::ACTIVATE_ALERT).of(id);
        Ok(self.transport.send(request).await?.data)
    }

    /// Explains why an alert fires or not, now or at an RFC 3339 instant in the past.
    ///
    /// # Errors
    /// [`ClientError`]
    pub async fn explain_alert(&self, id: Uuid, at: Option<&str>) -> Result<RemoteExplanation, ClientError> {
        let request = ApiRequest::new(operations::EXPLAIN_ALERT).of(id).query("at", at);
        Ok(self.transport.send(request).await?.data)
    }

    /// Creates, updates and deletes alerts in one transaction.
    ///
    /// # Errors
    /// [`ClientError`]; [`RequestRefusal::refused_changes`](crate::RequestRefusal::refused_changes) has the refused changes.
    pub async fn change_alerts(&self, body: Map<String, Value>) -> Result<RemoteChangedAlerts, ClientError> {
        let request = ApiRequest::new(operations::CHANGE_ALERTS).json(Value::Object(body));
        Ok(self.transport.send(request).await?.data)
    }

    /// Returns the revision of the alerts of a source.
    ///
    /// # Errors
    /// [`ClientError`]
    pub async fn source_revision(&self, source: &str) -> Result<i64, ClientError> {
        let body = json!({"source": source, "dry_run": true});
        let request = ApiRequest::new(operations::CHANGE_ALERTS).json(body);
        let changed: RemoteChangedAlerts = self.transport.send(request).await?.data;
        Ok(changed.source_revision.unwrap_or_default())
    }

    /// Reads an alert from a text. Nothing is stored.
    ///
    /// # Errors
    /// [`ClientError`]
    pub async fn parse_alert(&self, text: &str) -> Result<RemoteParsedAlert, ClientError> {
        let request = ApiRequest::new(operations::PARSE_ALERT).json(json!({"text": text}));
        Ok(self.transport.send(request).await?.data)
    }

    /// Plays an alert over the stored history, between two dates.
    ///
    /// # Errors
    /// [`ClientError`]
    pub async fn preview_alert(
        &self,
        alert: Map<String, Value>,
        from: Option<&str>,
        to: Option<&str>,
    ) -> Result<RemotePreview, ClientError> {
        let body = json!({"alert": alert, "from": from, "to": to});
        let request = ApiRequest::new(operations::PREVIEW_ALERT).json(body);
        Ok(self.transport.send(request).await?.data)
    }

    /// Returns the firings that were written at an RFC 3339 instant or later, or all of them, newest first.
    ///
    /// # Errors
    /// [`ClientError`]
    pub async fn firings(&self, since: Option<&str>) -> Result<Vec<RemoteFiring>, ClientError> {
        let mut firings: Vec<RemoteFiring> = Vec::new();
        loop {
            let request = ApiRequest::new(operations::LIST_FIRINGS)
                .query("limit", Some(FIRINGS_PER_PAGE))
                .query("after", firings.last().map(|firing| firing.id))
                .query("since", since);
            let page: Vec<RemoteFiring> = self.transport.send(request).await?.data;
            let is_last = page.len() < FIRINGS_PER_PAGE;
            firings.extend(page);
            if is_last {
                return Ok(firings);
            }
        }
    }

    /// Opens a stream of the firings after a position; `None` is the present one.
    ///
    /// # Errors
    /// [`ClientError`]
    pub async fn firing_stream(&self, after: Option<i64>) -> Result<FiringStream, ClientError> {
        FiringStream::open(self.transport.clone(), after).await
    }

    /// Returns the account's notification channels.
    ///
    /// # Errors
    /// [`ClientError`]
    pub async fn notification_channels(&self) -> Result<Vec<RemoteNotificationChannel>, ClientError> {
        let request = ApiRequest::new(operations::LIST_NOTIFICATION_CHANNELS);
        Ok(self.transport.send(request).await?.data)
    }
}
