//! Shared parts of the pages behind links in messages about firings.
//!
//! Such a link can be used until it expires, and its token may be sent as a parameter, so that a button of a chat service can submit it.

use delivery::messages::{AlertButton, ChannelActionKind};

use super::link::{form_field, link_error_page};
use super::page::{Form, Page, invalid_link_page};
use crate::routes::prelude::*;

/// Maximum number of characters of a token.
const MAX_TOKEN_CHARS: usize = 100;

/// Query parameters: the token.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handlers read them")]
pub(super) struct MessageLinkParams {
    /// Token from the link in the message.
    t: Option<String>,
}

/// The texts of the pages of an action.
struct Texts {
    title: &'static str,
    text: &'static str,
    button: &'static str,
    done_title: &'static str,
    done: &'static str,
}

const fn texts(action: ChannelActionKind) -> Texts {
    match action {
        ChannelActionKind::Acknowledge => Texts {
            title: "Acknowledge this alert?",
            text: "Says that you have seen it. Messages about it that are not sent yet are not sent any more.",
            button: "Acknowledge",
            done_title: "Acknowledged",
            done: "No further messages are sent about this firing.",
        },
        ChannelActionKind::AcknowledgeAll => Texts {
            title: "Acknowledge all of these alerts?",
            text: "Says that you have seen all alerts of the message. Messages about them that are not sent yet are not sent any more.",
            button: "Acknowledge all",
            done_title: "All acknowledged",
            done: "No further messages are sent about these firings.",
        },
        ChannelActionKind::Change(AlertButton::SnoozeOneHour) => Texts {
            title: "Snooze this alert for an hour?",
            text: "It does not fire in this time.",
            button: "Snooze 1 h",
            done_title: "Snoozed",
            done: "The alert is watched again in an hour.",
        },
        ChannelActionKind::Change(AlertButton::SnoozeUntilOpen) => Texts {
            title: "Snooze this alert until the market opens?",
            text: "It does not fire before the next session.",
            button: "Snooze until open",
            done_title: "Snoozed",
            done: "The alert is watched again when the next session opens.",
        },
        ChannelActionKind::Change(AlertButton::Pause) => Texts {
            title: "Pause this alert?",
            text: "It does not fire until you activate it again.",
            button: "Pause",
            done_title: "Paused",
            done: "The alert is paused. Activate it on its page to watch it again.",
        },
        ChannelActionKind::Change(AlertButton::Rearm) => Texts {
            title: "Arm this alert again?",
            text: "It is watched again, and can fire once more.",
            button: "Re-arm",
            done_title: "Armed again",
            done: "The alert is watched again.",
        },
    }
}

/// Shows the page of a link, if it leads to this one.
pub(super) fn show(app: &App, mut query: Query, page: &str) -> Response {
    let Some(token) = query.text("t", MAX_TOKEN_CHARS) else {
        return invalid_link_page();
    };
    let action = match app.service().firing_links.read(&token) {
        Ok(action) if action.page() == page => action,
        Ok(_) => return invalid_link_page(),
        Err(error) => return link_error_page(error),
    };
    let texts = texts(action);
    let form = Form {
        action: action.page().into(),
        hidden: vec![("t", token)],
        field: None,
        button: texts.button,
        other: None,
    };
    Page::with_form(texts.title, texts.text, form).ok()
}

/// Performs the action of a link, if it leads to this page. Programs may send the token as a parameter, without a form.
pub(super) async fn follow(app: &App, mut query: Query, form: Option<FormFields>, page: &str) -> Response {
    let token = match form.as_ref().map_or("", |form| form_field(form, "t")) {
        "" => query.text("t", MAX_TOKEN_CHARS).unwrap_or_default(),
        token => token.to_owned(),
    };
    let links = &app.service().firing_links;
    let followed = match links.read(&token) {
        Ok(action) if action.page() != page => return invalid_link_page(),
        Ok(_) => links.follow(&token).await,
        Err(error) => Err(error),
    };
    match followed {
        Ok(action) => {
            let texts = texts(action);
            Page::message(texts.done_title, texts.done).ok()
        }
        Err(error) => link_error_page(error),
    }
}
