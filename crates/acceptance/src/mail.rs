//! A real mail server: aiosmtpd, by `tests/smtp/server.py`, which behaves as the recipient's mailbox says and tells what it
//! got.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::clock::wait_for;
use crate::tools::{python, root};

/// A mail that arrived.
#[derive(Clone, Debug)]
pub struct Mail(Value);

impl Mail {
    /// A header that is there once.
    ///
    /// # Panics
    /// If it is not.
    #[track_caller]
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        let headers = self.0["headers"].as_array().unwrap();
        let found: Vec<&str> = headers
            .iter()
            .filter(|pair| pair[0].as_str().unwrap().eq_ignore_ascii_case(name))
            .map(|pair| pair[1].as_str().unwrap())
            .collect();
        assert_eq!(found.len(), 1, "{name} in {headers:?}");
        found[0]
    }

    /// Whether there is such a header.
    ///
    /// # Panics
    /// If the mail has no headers at all.
    #[must_use]
    pub fn has_header(&self, name: &str) -> bool {
        let mut headers = self.0["headers"].as_array().unwrap().iter();
        headers.any(|pair| pair[0].as_str().unwrap().eq_ignore_ascii_case(name))
    }

    /// Its text.
    ///
    /// # Panics
    /// If it has none.
    #[must_use]
    pub fn text(&self) -> &str {
        self.0["text"].as_str().unwrap()
    }

    /// What its HTML shows.
    ///
    /// # Panics
    /// If it has none.
    #[must_use]
    pub fn html_text(&self) -> &str {
        self.0["html_text"].as_str().unwrap()
    }

    /// The only recipient.
    ///
    /// # Panics
    /// If there are more.
    #[must_use]
    pub fn to(&self) -> &str {
        let recipients = self.0["recipients"].as_array().unwrap();
        assert_eq!(recipients.len(), 1);
        recipients[0].as_str().unwrap()
    }

    /// What the server found wrong with its form.
    #[must_use]
    pub fn defects(&self) -> &Value {
        &self.0["defects"]
    }

    /// Whether it came over TLS, and as whose.
    ///
    /// # Panics
    /// If the server does not say.
    #[must_use]
    pub fn security(&self) -> (bool, &str) {
        (self.0["secure"].as_bool().unwrap(), self.0["user"].as_str().unwrap())
    }

    /// The token of the link in its text that leads to that page.
    ///
    /// # Panics
    /// If there is no such link.
    #[track_caller]
    #[must_use]
    pub fn token(&self, page: &str) -> String {
        let begin = format!("/{page}?token=");
        let (_, after) = self
            .text()
            .split_once(&begin)
            .unwrap_or_else(|| panic!("no {begin} in {}", self.text()));
        after.split_whitespace().next().unwrap().to_owned()
    }
}

/// A mail server. It ends with its input, and that with this.
#[derive(Debug)]
pub struct MailServer {
    port: u16,
    scheme: &'static str,
    ca_file: Option<PathBuf>,
    arrived: Arc<Mutex<Vec<Mail>>>,
    _child: Child,
    _folder: TempDir,
}

impl MailServer {
    /// One that speaks plainly.
    pub async fn start() -> Self {
        Self::with("smtp", &[]).await
    }

    /// One with a certificate of an authority of its own (see [`MailServer::ca_file`]), that wants STARTTLS, or TLS from the
    /// start, and this user and password.
    ///
    /// # Panics
    /// If there can be no certificate.
    pub async fn secure(is_implicit: bool, user: &str, password: &str) -> Self {
        let (scheme, security) = if is_implicit {
            ("smtps", "implicit")
        } else {
            ("smtp", "starttls")
        };
        Self::with(
            scheme,
            &["--security", security, "--user", user, "--password", password],
        )
        .await
    }

    async fn with(scheme: &'static str, options: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let mut command = Command::new(python());
        command.arg(root().join("tests/smtp/server.py")).args(options);
        let mut ca_file = None;
        if options.contains(&"--security") {
            let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
            let certificate = folder.path().join("certificate.pem");
            let key = folder.path().join("key.pem");
            std::fs::write(&certificate, made.cert.pem()).unwrap();
            std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
            command.arg("--certificate").arg(&certificate).arg("--key").arg(&key);
            ca_file = Some(certificate);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let missing = "aiosmtpd is missing; run scripts/install-test-tools, or scripts/test, which does that first";
        let mut child = command.spawn().expect(missing);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next_line().await.unwrap().expect(missing);
        let first: Value = serde_json::from_str(&first).unwrap();
        let arrived: Arc<Mutex<Vec<Mail>>> = Arc::default();
        let told = Arc::clone(&arrived);
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                let event: Value = serde_json::from_str(&line).unwrap();
                if event["event"] == "message" {
                    told.lock().unwrap().push(Mail(event));
                }
            }
        });
        Self {
            port: u16::try_from(first["port"].as_u64().unwrap()).unwrap(),
            scheme,
            ca_file,
            arrived,
            _child: child,
            _folder: folder,
        }
    }

    /// Its URL, with `user:password@` or nothing.
    #[must_use]
    pub fn url(&self, credentials: &str) -> String {
        let option = if self.ca_file.is_some() && self.scheme == "smtp" {
            "?tls=starttls"
        } else {
            ""
        };
        format!("{}://{credentials}localhost:{}{option}", self.scheme, self.port)
    }

    /// The file of the authority that vouches for it.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn ca_file(&self) -> String {
        self.ca_file.as_ref().unwrap().display().to_string()
    }

    /// The mails to an address, oldest first.
    ///
    /// # Panics
    /// Never.
    #[must_use]
    pub fn mails_to(&self, address: &str) -> Vec<Mail> {
        let arrived = self.arrived.lock().unwrap();
        arrived.iter().filter(|mail| mail.to() == address).cloned().collect()
    }

    /// The same, once there are so many.
    ///
    /// # Panics
    /// If they do not come.
    pub async fn wait_for(&self, address: &str, count: usize) -> Vec<Mail> {
        wait_for(&format!("{count} mails to {address}"), || async {
            Some(self.mails_to(address)).filter(|mails| mails.len() >= count)
        })
        .await
    }
}
