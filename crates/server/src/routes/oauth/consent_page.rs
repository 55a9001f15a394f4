//! The consent page.

use accounts::oauth::{AuthorizationRequest, ClientOrigin};
use askama::Template;
use foundation::{Actor, Scope};

use crate::routes::pages::page::{self, FormTarget, STYLE};
use crate::routes::prelude::*;

/// A requested scope with its description for the user.
struct RequestedScope {
    name: &'static str,
    text: &'static str,
}

#[derive(Template)]
#[template(path = "oauth_consent.html")]
struct ConsentTemplate<'a> {
    style: &'static str,
    client: &'a str,
    /// Host of the client metadata document.
    host: Option<&'a str>,
    email: &'a str,
    leads_to: String,
    is_own_machine: bool,
    requested_scopes: Vec<RequestedScope>,
    form: &'a str,
    request: &'a str,
    /// Query string of the request, for the link that switches accounts.
    query: &'a str,
}

/// Renders the consent page.
pub(super) fn show(
    authorization: &AuthorizationRequest,
    actor: &Actor,
    sealed: &str,
    query: &str,
    form: &str,
) -> Response {
    let template = ConsentTemplate {
        style: STYLE,
        client: &authorization.client.name,
        host: match &authorization.client.origin {
            ClientOrigin::Host(host) => Some(host),
            ClientOrigin::Registered => None,
        },
        email: &actor.email,
        leads_to: authorization.redirect_destination(),
        is_own_machine: authorization.redirects_to_local_app(),
        requested_scopes: authorization.scopes.iter().map(|scope| describe(*scope)).collect(),
        form,
        request: sealed,
        query,
    };
    page::response(&template, FormTarget::AnyOrigin)
}

fn describe(scope: Scope) -> RequestedScope {
    RequestedScope {
        name: scope.name(),
        text: match scope {
            Scope::AlertsRead => "Read your alerts and their history",
            Scope::AlertsWrite => "Create, change, pause and delete alerts",
            Scope::WatchlistRead => "Read your watchlist",
            Scope::WatchlistWrite => "Add and remove watchlist items",
            _ => "",
        },
    }
}
