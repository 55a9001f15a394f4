//! The frame of every page: navigation, search, notices and appearance.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use market::{Decimal, Price, Symbol};

use crate::screens::alerts::RecentChange;
use crate::{assets, figures, texts};

/// An entry of the main navigation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Section {
    /// `/`
    Today,
    /// `/alerts`
    Alerts,
    /// `/fired`
    Fired,
    /// `/deliveries`
    Deliveries,
    /// `/watchlist`
    Watchlist,
    /// `/settings`
    Settings,
}

impl Section {
    /// All entries in their order.
    pub const ALL: [Self; 6] = [
        Self::Today,
        Self::Alerts,
        Self::Fired,
        Self::Deliveries,
        Self::Watchlist,
        Self::Settings,
    ];

    /// Returns the path.
    #[must_use]
    pub const fn path(self) -> &'static str {
        match self {
            Self::Today => "/",
            Self::Alerts => "/alerts",
            Self::Fired => "/fired",
            Self::Deliveries => "/deliveries",
            Self::Watchlist => "/watchlist",
            Self::Settings => "/settings",
        }
    }

    pub(crate) const fn is_fired(self) -> bool {
        matches!(self, Self::Fired)
    }

    /// Returns the id of its text.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Today => "nav-today",
            Self::Alerts => "nav-alerts",
            Self::Fired => "nav-fired",
            Self::Deliveries => "nav-deliveries",
            Self::Watchlist => "nav-watchlist",
            Self::Settings => "nav-settings",
        }
    }
}

/// A theme.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Theme {
    /// As the system has it.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl Theme {
    /// All themes.
    pub const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    /// Returns the name in a cookie and in the page.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// Returns the id of its text.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::System => "theme-system",
            Self::Light => "theme-light",
            Self::Dark => "theme-dark",
        }
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        self == other
    }

    /// Returns the theme with this name, or that of the system.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        Self::ALL
            .into_iter()
            .find(|theme| theme.name() == name)
            .unwrap_or_default()
    }
}

/// The color of rising prices. Markets in East Asia show them in red.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RisingColor {
    /// Rising prices are green.
    #[default]
    Green,
    /// Rising prices are red.
    Red,
}

impl RisingColor {
    /// Both colors.
    pub const ALL: [Self; 2] = [Self::Green, Self::Red];

    /// Returns the name in a cookie and in the page.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Green => "green",
            Self::Red => "red",
        }
    }

    /// Returns the id of its text.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Green => "rising-green",
            Self::Red => "rising-red",
        }
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        self == other
    }

    /// Returns the color with this name, or green.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        Self::ALL
            .into_iter()
            .find(|color| color.name() == name)
            .unwrap_or_default()
    }
}

/// The appearance that a browser has chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Appearance {
    /// The theme.
    pub theme: Theme,
    /// The color of rising prices.
    pub rising: RisingColor,
    /// Whether single keys work in tables.
    pub has_keys: bool,
    /// Whether a firing makes a sound.
    pub has_sound: bool,
}

impl Default for Appearance {
    fn default() -> Self {
        Self {
            theme: Theme::default(),
            rising: RisingColor::default(),
            has_keys: true,
            has_sound: false,
        }
    }
}

/// The head of every page, with or without a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageHead {
    /// The path under which the service is reachable; empty at the root of its host.
    pub base: String,
    /// The appearance.
    pub appearance: Appearance,
}

impl PageHead {
    /// Returns the address of an embedded file.
    #[must_use]
    pub fn asset(&self, path: &str) -> String {
        format!("{}/assets/{}/{path}", self.base, assets::digest())
    }

    /// Returns the address of a page of this service.
    #[must_use]
    pub fn link(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }
}

/// A message at the top of a page about what has just been done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Notice {
    /// The message.
    pub text: String,
    /// Whether something went wrong.
    pub is_error: bool,
    /// The id by which the change can be undone.
    pub undo: Option<String>,
}

/// The state from which a page continues with live events.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LiveState {
    /// The account's id, which separates the streams of two accounts in one browser.
    pub account: String,
    /// The position of the history before the page was rendered.
    pub position: i64,
    /// The number of firings that the account has not seen.
    pub unseen: u32,
}

/// A rule that shows what the search box takes, on a stock that this service knows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExampleRule {
    /// The symbol.
    pub symbol: String,
    /// The rule: a level below the price.
    pub rule: String,
}

impl ExampleRule {
    /// Returns an example for a stock and its price.
    #[must_use]
    pub fn new(symbol: Symbol, price: Price) -> Self {
        let level = price.micros() / 10 * 9;
        // A level of at least ten dollars needs no cents.
        let unit = if level >= 10_000_000 { 1_000_000 } else { 100 };
        let level = figures::usd(Decimal::from_micros((level / unit * unit).max(unit)));
        let level = level.strip_suffix(".00").unwrap_or(&level);
        Self {
            symbol: symbol.to_string(),
            rule: format!("{symbol} < {level}"),
        }
    }
}

/// The frame of a page for a signed-in account.
#[derive(Clone, PartialEq, Debug)]
pub struct Shell {
    /// The head.
    pub head: PageHead,
    /// The section that the page belongs to.
    pub section: Option<Section>,
    /// The path and query of the page.
    pub address: String,
    /// The account's email address.
    pub email: String,
    /// Whether the account operates this service.
    pub is_operator: bool,
    /// The account's time zone.
    pub zone: TimeZone,
    /// The present instant.
    pub now: Timestamp,
    /// The notice about the last change.
    pub notice: Option<Notice>,
    /// The recent changes of alerts that can be undone, newest first, without that of the notice.
    pub recent_changes: Vec<RecentChange>,
    /// An example for the search box; `None` if the service knows no price.
    pub example: Option<ExampleRule>,
    /// The state from which live events continue.
    pub live: LiveState,
}

impl Shell {
    /// Returns whether the page belongs to a section.
    #[must_use]
    pub fn is_in(&self, section: &Section) -> bool {
        self.section == Some(*section)
    }

    pub(crate) fn search_placeholder(&self) -> String {
        self.placeholder("search-placeholder", "search-placeholder-without-stocks")
    }

    pub(crate) fn command_placeholder(&self) -> String {
        self.placeholder("command-placeholder", "command-placeholder-without-stocks")
    }

    fn placeholder(&self, with_example: &str, without: &str) -> String {
        match &self.example {
            Some(ExampleRule { symbol, rule }) => {
                let values = [("symbol", symbol.as_str().into()), ("rule", rule.as_str().into())];
                texts::text_with(with_example, values)
            }
            None => texts::text(without),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The frame of an operator's page in UTC.
    pub(crate) fn shell() -> Shell {
        Shell {
            head: PageHead {
                base: String::new(),
                appearance: Appearance::default(),
            },
            section: None,
            address: "/".to_owned(),
            email: "operator@example.com".to_owned(),
            is_operator: true,
            zone: TimeZone::UTC,
            now: Timestamp::UNIX_EPOCH,
            notice: None,
            recent_changes: Vec::new(),
            example: None,
            live: LiveState {
                account: String::new(),
                position: 0,
                unseen: 0,
            },
        }
    }

    fn example(symbol: &str, micros: i64) -> ExampleRule {
        ExampleRule::new(symbol.parse().unwrap(), Price::from_micros(micros).unwrap())
    }

    #[test]
    fn example_is_a_level_below_the_price() {
        for (micros, rule) in [
            (200_000_000, "QQQ < 180"),
            (10_500_000, "QQQ < 9.45"),
            (11_200_000, "QQQ < 10"),
            (1, "QQQ < 0.0001"),
        ] {
            assert_eq!(example("QQQ", micros).rule, rule);
        }
    }

    #[test]
    fn placeholders_name_a_known_stock_or_none() {
        let unknown = shell();
        assert_eq!(unknown.search_placeholder(), "Symbol or rule");
        let known = Shell {
            example: Some(example("QQQ", 200_000_000)),
            ..unknown
        };
        assert_eq!(known.search_placeholder(), "QQQ, or QQQ < 180");
        assert_eq!(known.command_placeholder(), "Alerts, QQQ, or QQQ < 180");
    }
}
