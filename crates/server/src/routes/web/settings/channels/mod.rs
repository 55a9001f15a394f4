//! `GET|POST /settings/channels`: where messages go.
//!
//! * [`own_address`]: the phone number, and tests of the account's own address and number.
//! * [`notification_channel`]: tests and changes of notification channels; [`create`] has the form for a new one.
//! * [`route`]: the route of alerts that have none of their own.

pub(in crate::routes::web) mod create;
mod notification_channel;
mod own_address;
mod route;

use delivery::messages::MessageId;
use foundation::ServiceError;
use web::form_state::FormState;
use web::layout::Section;
use web::screens::RouteForm;
use web::screens::settings::{
    ChannelLine, ChannelTestLine, ChannelsPage, MessageTestReceipt, OwnDestinations, TelegramCode,
};

use super::{after_form, is_failure, refused_form};
use crate::query::uuid;
use crate::routes::pages::link::form_field;
use crate::routes::pages::page::error_page;
use crate::routes::prelude::*;
use crate::routes::web::response::{after_change, rendered};
use crate::routes::web::visitor::Visitor;

/// The address of the page.
const PATH: &str = "/settings/channels";
/// The length of an id, in characters.
const ID_CHARS: usize = 36;

/// The parts of the page that answer a form.
#[derive(Default)]
struct PageAnswer {
    form: FormState,
    /// The number to which a code has been sent.
    awaited_phone: Option<String>,
    receipt: Option<MessageTestReceipt>,
    test: Option<ChannelTestLine>,
    telegram_code: Option<TelegramCode>,
    /// A refused form for the route.
    route: Option<RouteForm>,
}

/// The result of a form.
enum Outcome {
    /// A notice is enough.
    Changed(String),
    /// The page shows something once.
    Answered(Box<PageAnswer>),
}

impl Outcome {
    fn answered(answer: PageAnswer) -> Self {
        Self::Answered(Box::new(answer))
    }
}

/// Shows the channels, with the receipt of a test.
pub(in crate::routes::web) async fn show_channels(
    State(app): State<App>,
    visitor: Visitor,
    mut query: Query,
) -> Response {
    let test = query.text("test", ID_CHARS).and_then(|id| uuid(&id));
    match own_address::receipt(&app, &visitor, test.map(MessageId)).await {
        Ok(receipt) => {
            let answer = PageAnswer {
                receipt,
                ..PageAnswer::default()
            };
            page(&app, &visitor, answer).await
        }
        Err(error) => error_page(error),
    }
}

/// Takes one of the forms of the page.
pub(in crate::routes::web) async fn change_channels(
    State(app): State<App>,
    visitor: Visitor,
    ClientAddress(address): ClientAddress,
    form: FormFields,
) -> Response {
    match form_field(&form, "action") {
        "test" => own_address::send_test(&app, &visitor, &form).await,
        action @ ("code" | "verify") => own_address::change_phone(&app, &visitor, action, &form).await,
        action @ ("save-route" | "remove-route") => {
            let result = route::change(&app, &visitor, action, &form).await;
            respond(&app, &visitor, result).await
        }
        action => {
            if let Some(refusal) = notification_channel::rate_limit(&app, &visitor, address, action).await {
                return refusal;
            }
            let result = notification_channel::change(&app, &visitor, action, &form).await;
            respond(&app, &visitor, result).await
        }
    }
}

/// Returns the page after a form whose errors need no place on it.
async fn respond(app: &App, visitor: &Visitor, result: Result<Outcome, ServiceError>) -> Response {
    match result {
        Ok(Outcome::Changed(text)) => after_change(&visitor.head, PATH, Ok(text)),
        Ok(Outcome::Answered(answer)) => page(app, visitor, *answer).await,
        Err(error) if is_failure(&error) => error_page(error),
        Err(error) => after_change(&visitor.head, PATH, Err(error)),
    }
}

async fn page(app: &App, visitor: &Visitor, answer: PageAnswer) -> Response {
    match channels_page(app, visitor, answer).await {
        Ok(page) => after_form(visitor, &page.form, rendered(&page)),
        Err(error) => error_page(error),
    }
}

async fn channels_page(app: &App, visitor: &Visitor, answer: PageAnswer) -> Result<ChannelsPage, ServiceError> {
    let (service, actor) = (app.service(), &visitor.actor);
    let (_, account) = service.identity.session(actor).await?;
    let phone = account.profile.phone.map(|phone| (phone.number, phone.verified_at));
    let channels = service.notification_channels.list(actor).await?;
    let webhooks = service.webhooks.webhooks(actor).await?;
    let own = OwnDestinations {
        phone: phone.as_ref().map(|(number, _)| number.as_str()),
        webhooks: &webhooks,
    };
    let lines: Vec<ChannelLine> = channels.iter().map(|channel| ChannelLine::of(channel, own)).collect();
    let route = match answer.route {
        Some(route) => route,
        None => route::stored_form(app, visitor, &channels).await?,
    };
    Ok(ChannelsPage {
        shell: visitor.shell_with(app, Some(Section::Settings), &answer.form),
        form: answer.form,
        phone,
        awaited_phone: answer.awaited_phone,
        receipt: answer.receipt,
        channels: lines,
        test: answer.test,
        telegram_code: answer.telegram_code,
        web_push_key: service.notification_channels.client.web_push_public_key(),
        route,
    })
}
