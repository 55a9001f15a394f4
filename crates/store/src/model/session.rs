//! Login sessions.

use std::net::IpAddr;

use jiff::Timestamp;
use uuid::Uuid;

use super::{Account, AccountId};

/// Session id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SessionId(pub Uuid);

/// A session. All refresh tokens that descend from one sign-in belong to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UserSession {
    /// Unique id.
    pub id: SessionId,
    /// Owning account.
    pub account: AccountId,
    /// Sign-in time.
    pub created_at: Timestamp,
    /// Time of last use, to the hour or so.
    pub last_seen_at: Timestamp,
    /// Expiry time unless used.
    pub expires_at: Timestamp,
    /// Time at which it was ended.
    pub ended_at: Option<Timestamp>,
    /// The client that has used it last; `None` if only programs have.
    pub client: Option<SessionClient>,
}

/// A browser that uses a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionClient {
    /// Its address.
    pub address: IpAddr,
    /// The browser.
    pub browser: Browser,
    /// The operating system.
    pub system: OperatingSystem,
}

alerts::named_enum! {
    /// A browser, as far as people tell browsers apart.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Browser {
        /// Firefox.
        Firefox = "Firefox",
        /// Edge.
        Edge = "Edge",
        /// Opera.
        Opera = "Opera",
        /// Chrome, and others that are built from it.
        Chrome = "Chrome",
        /// Safari.
        Safari = "Safari",
        /// Any other client.
        Other = "other",
    }
}

alerts::named_enum! {
    /// An operating system.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum OperatingSystem {
        /// Windows.
        Windows = "Windows",
        /// Android.
        Android = "Android",
        /// iOS.
        Ios = "iOS",
        /// macOS.
        MacOs = "macOS",
        /// Linux.
        Linux = "Linux",
        /// Any other system.
        Other = "other",
    }
}

impl SessionClient {
    /// Reads the name of a browser (`User-Agent`). Most browsers name others, too, so the order counts.
    #[must_use]
    pub fn of(address: IpAddr, user_agent: &str) -> Self {
        let names = |marks: &[&str]| marks.iter().any(|mark| user_agent.contains(mark));
        let browser = match user_agent {
            _ if names(&["Firefox/", "FxiOS/"]) => Browser::Firefox,
            _ if names(&["Edg/", "EdgA/", "EdgiOS/"]) => Browser::Edge,
            _ if names(&["OPR/", "OPT/"]) => Browser::Opera,
            _ if names(&["Chrome/", "CriOS/"]) => Browser::Chrome,
            _ if names(&["Safari/"]) => Browser::Safari,
            _ => Browser::Other,
        };
        let system = match user_agent {
            _ if names(&["Windows"]) => OperatingSystem::Windows,
            _ if names(&["Android"]) => OperatingSystem::Android,
            _ if names(&["iPhone", "iPad"]) => OperatingSystem::Ios,
            _ if names(&["Mac OS X"]) => OperatingSystem::MacOs,
            _ if names(&["Linux"]) => OperatingSystem::Linux,
            _ => OperatingSystem::Other,
        };
        Self {
            address,
            browser,
            system,
        }
    }
}

impl UserSession {
    /// Whether it is valid at `now`.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.ended_at.is_none() && now < self.expires_at
    }
}

/// The result of using a refresh token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RefreshOutcome {
    /// The token was valid, and is used now.
    Valid(Box<(UserSession, Account)>),
    /// The token had been used before. Its session is ended now, because one of the two uses was not the owner's.
    Reused(UserSession),
    /// The token is unknown, or its session is over.
    Unknown,
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn client_is_read_from_its_name() {
        let of = |user_agent: &str| {
            let client = SessionClient::of(Ipv4Addr::LOCALHOST.into(), user_agent);
            (client.browser, client.system)
        };
        assert_eq!(
            of("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"),
            (Browser::Firefox, OperatingSystem::Linux)
        );
        assert_eq!(
            of(
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0"
            ),
            (Browser::Edge, OperatingSystem::Windows)
        );
        assert_eq!(
            of(
                "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36"
            ),
            (Browser::Chrome, OperatingSystem::Android)
        );
        assert_eq!(
            of(
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1"
            ),
            (Browser::Safari, OperatingSystem::Ios)
        );
        assert_eq!(of("curl/8.0"), (Browser::Other, OperatingSystem::Other));
    }
}
