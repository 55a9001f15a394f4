//! Previews of templates for notifications.

use ::alerts::{AlertId, Note};
use delivery::messages::MessageWriter;
use foundation::request;
use foundation::request::{Field, RefOr, Request, Schema, plain_text, string};
use foundation::{Actor, Ports, ServiceError};
use market::{Decimal, Price};
use notify::message::instant;
use notify::templates::user_template::{MAX_SOURCE_BYTES, TemplateKind, TemplateVariables, UserTemplate};
use serde_json::{Value, json};

use crate::alerts::{AlertDetail, Alerts};

/// The source of a template. Its size is checked with its syntax.
pub struct TemplateSource(String);

impl Field for TemplateSource {
    fn read(value: &Value) -> Result<Self, String> {
        Ok(Self(plain_text(value)?.to_owned()))
    }

    fn schema() -> RefOr<Schema> {
        let source = string().max_length(Some(MAX_SOURCE_BYTES));
        source.pattern(Some(r"^[^\x00]*$")).into()
    }
}

request! {
    /// A template to render.
    PreviewTemplateRequest as "PreviewTemplate" {
        /// The template.
        template: TemplateSource = "{{ symbol }} is at {{ price|money }} ({{ change_percent|percent }} today)",
        /// The kind of its result.
        kind: TemplateKind = "text",
        /// The alert whose latest firing, or present values, the template gets. Without it, the template gets those of an example.
        alert_id: Option<AlertId>,
    }
}

/// Templates for notifications.
#[derive(Clone)]
pub struct Templates {
    pub(crate) ports: Ports,
    pub(crate) alerts: Alerts,
    pub(crate) writer: MessageWriter,
}

impl Templates {
    /// Renders the template of a request, `{template, kind, alert_id?}`, and returns its result.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for an invalid body or template, [`ServiceError::NotFound`] for an unknown alert.
    pub async fn preview(&self, actor: &Actor, body: &Value) -> Result<String, ServiceError> {
        let request = PreviewTemplateRequest::read(body)?;
        let variables = match request.alert_id {
            None => TemplateVariables::example(),
            Some(alert) => self.variables(actor, alert).await?,
        };
        let template = UserTemplate::parse(request.kind, &request.template.0);
        let rendered = template.and_then(|template| template.render(&variables));
        rendered.map_err(|error| ServiceError::field("template", error.to_string()))
    }

    /// Returns the variables of the latest firing of an alert. One that has never fired has its present values.
    async fn variables(&self, actor: &Actor, id: AlertId) -> Result<TemplateVariables, ServiceError> {
        let detail = self.alerts.alert(actor, id).await?;
        let store = &self.ports.store;
        let fired = match store.events_of_alert(actor.account, id, 1).await?.first() {
            Some(event) => store.event_data(actor.account, *event).await?,
            None => None,
        };
        let data = fired.unwrap_or_else(|| self.present_data(&detail));
        let link = self.writer.link(&format!("alerts/{id}"), &[]);
        Ok(TemplateVariables::from_event_data(
            &data,
            Some(link),
            actor.time_zone.clone(),
        ))
    }

    /// Returns what the data of an event would be if the alert fired now.
    fn present_data(&self, detail: &AlertDetail) -> String {
        let (alert, stock) = (&detail.stored.alert, &detail.stock);
        let number = |number: Option<Decimal>| number.map(Decimal::as_f64);
        let data = json!({
            "alert": {
                "symbol": alert.symbol.as_str(),
                "condition": alert.condition.kind().name(),
                "threshold": number(alert.condition.threshold()),
                "triggered_at": instant(self.ports.clock.now()),
                "parameters": alert.parameters,
                "note": alert.note.as_ref().map(Note::as_str),
            },
            "stock": {
                "price": stock.last_price.map(Price::as_f64),
                "change_percent": number(stock.change_percent),
            },
            "company_name": stock.row.name,
            "reason": detail.sentence(),
        });
        data.to_string()
    }
}
