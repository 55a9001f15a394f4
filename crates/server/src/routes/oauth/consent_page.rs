//! The consent page.

use accounts::oauth::{AuthorizationRequest, ClientOrigin};
use askama::Template;
use foundation::{Actor, Scope};

use web::layout::PageHead;
use web::screens::oauth::{ConsentPage, RequestedScope};

use crate::routes::pages::page::{FormTarget, html_page};
use crate::routes::prelude::*;

/// Renders the consent page.
pub(super) fn show(
    head: PageHead,
    authorization: &AuthorizationRequest,
    actor: &Actor,
    sealed: &str,
    query: &str,
    form: &str,
) -> Response {
    let page = ConsentPage {
        head,
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
    // Rendering to a string cannot fail.
    let html = page.render().unwrap_or_default();
    html_page(html, FormTarget::RedirectUri(authorization.redirect_uri()))
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
