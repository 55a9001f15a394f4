//! The page on which somebody decides.

use askama::Template;
use axum::response::Response;
use service::oauth::{Asked, Origin};
use service::{Actor, Scope};

use crate::routes::pages::page::{self, Leads, STYLE};

/// A scope as people read it.
struct Wish {
    name: &'static str,
    text: &'static str,
}

#[derive(Template)]
#[template(path = "oauth_consent.html")]
struct Html<'a> {
    style: &'static str,
    client: &'a str,
    /// The host that the client's own document is on.
    host: Option<&'a str>,
    email: &'a str,
    leads_to: String,
    is_own_machine: bool,
    wishes: Vec<Wish>,
    form: &'a str,
    request: &'a str,
    /// What was asked, for whoever wants to be asked as somebody else.
    query: &'a str,
}

/// The page.
pub(super) fn show(asked: &Asked, actor: &Actor, sealed: &str, query: &str, form: &str) -> Response {
    let html = Html {
        style: STYLE,
        client: &asked.client.name,
        host: match &asked.client.origin {
            Origin::Host(host) => Some(host),
            Origin::Registered => None,
        },
        email: &actor.email,
        leads_to: asked.leads_to(),
        is_own_machine: asked.leads_to_own_machine(),
        wishes: asked.scopes.iter().map(|scope| wish(*scope)).collect(),
        form,
        request: sealed,
        query,
    };
    // Writing into a string cannot fail, and the template has no other fault.
    page::response(html.render().unwrap_or_default(), Leads::Anywhere)
}

fn wish(scope: Scope) -> Wish {
    Wish {
        name: scope.name(),
        text: match scope {
            Scope::AlertsRead => "Read your alerts and what has become of them",
            Scope::AlertsWrite => "Make, change, pause and delete alerts",
            Scope::WatchlistRead => "Read your watchlist",
            Scope::WatchlistWrite => "Add to your watchlist and remove from it",
            _ => "",
        },
    }
}
