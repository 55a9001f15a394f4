//! `POST /appearance`: theme, color of rising prices, single keys and sound, kept in cookies of the browser.

use url::Url;
use web::layout::{Appearance, PageHead, RisingColor, Theme};

use super::response::see_other;
use super::visitor::Visitor;
use crate::auth::cookie::cookie_values;
use crate::routes::pages::link::form_field;
use crate::routes::prelude::*;

const THEME_COOKIE: &str = "bellwether_theme";
const RISING_COOKIE: &str = "bellwether_rising";
const KEYS_COOKIE: &str = "bellwether_keys";
const SOUND_COOKIE: &str = "bellwether_sound";
const ON: &str = "on";
const OFF: &str = "off";
/// How long a browser keeps its appearance: 400 days, the maximum of browsers.
const MAX_AGE_SECONDS: u32 = 400 * 24 * 60 * 60;

/// Returns the head of a page for a browser.
pub(in crate::routes) fn page_head(app: &App, headers: &HeaderMap) -> PageHead {
    let cookie = |name| cookie_values(headers, name).next().unwrap_or_default();
    PageHead {
        base: base_path(app.service().identity.public_url()),
        appearance: Appearance {
            theme: Theme::from_name(cookie(THEME_COOKIE)),
            rising: RisingColor::from_name(cookie(RISING_COOKIE)),
            has_keys: cookie(KEYS_COOKIE) != OFF,
            has_sound: cookie(SOUND_COOKIE) == ON,
        },
    }
}

/// Returns the path of the public URL without a slash at the end.
fn base_path(public_url: &str) -> String {
    let url = Url::parse(public_url).ok();
    url.map_or_else(String::new, |url| url.path().trim_end_matches('/').to_owned())
}

/// Sets the appearance of this browser.
pub(super) async fn set_appearance(visitor: Visitor, form: FormFields) -> Response {
    let theme = Theme::from_name(form_field(&form, "theme"));
    let rising = RisingColor::from_name(form_field(&form, "rising"));
    // A checkbox that is not checked is not sent.
    let switch = |name| if form_field(&form, name) == ON { ON } else { OFF };
    let mut response = see_other(&visitor.head, form_field(&form, "next"));
    for (name, value) in [
        (THEME_COOKIE, theme.name()),
        (RISING_COOKIE, rising.name()),
        (KEYS_COOKIE, switch("keys")),
        (SOUND_COOKIE, switch("sound")),
    ] {
        let cookie = format!("{name}={value}; Path=/; Max-Age={MAX_AGE_SECONDS}; HttpOnly; SameSite=Lax");
        if let Ok(cookie) = HeaderValue::try_from(cookie) {
            response.headers_mut().append(header::SET_COOKIE, cookie);
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_path_is_the_path_of_the_public_url() {
        assert_eq!(base_path("https://alerts.example.com"), "");
        assert_eq!(base_path("https://example.com/bellwether/"), "/bellwether");
    }
}
