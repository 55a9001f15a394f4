//! A real SMTP server: aiosmtpd, started by `tests/smtp/server.py`. The recipient's mailbox name selects its behaviour, and it
//! reports the mail that it receives.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::clock::wait_for;
use crate::tools::{python, repository_root};

/// A mail that the server received.
#[derive(Clone, Debug)]
pub struct ReceivedMail(Value);

impl ReceivedMail {
    /// Returns a header that occurs exactly once.
    ///
    /// # Panics
    /// If the header is missing or repeated.
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

    /// Returns whether the mail has this header.
    ///
    /// # Panics
    /// If the mail has no headers at all.
    #[must_use]
    pub fn has_header(&self, name: &str) -> bool {
        let mut headers = self.0["headers"].as_array().unwrap().iter();
        headers.any(|pair| pair[0].as_str().unwrap().eq_ignore_ascii_case(name))
    }

    /// Returns the plain-text body.
    ///
    /// # Panics
    /// If there is no plain-text body.
    #[must_use]
    pub fn text(&self) -> &str {
        self.0["text"].as_str().unwrap()
    }

    /// Returns the visible text of the HTML body.
    ///
    /// # Panics
    /// If there is no HTML body.
    #[must_use]
    pub fn html_text(&self) -> &str {
        self.0["html_text"].as_str().unwrap()
    }

    /// Returns the only recipient.
    ///
    /// # Panics
    /// If there is not exactly one recipient.
    #[must_use]
    pub fn to(&self) -> &str {
        let recipients = self.0["recipients"].as_array().unwrap();
        assert_eq!(recipients.len(), 1);
        recipients[0].as_str().unwrap()
    }

    /// Returns the format defects that the server's parser reported.
    #[must_use]
    pub fn defects(&self) -> &Value {
        &self.0["defects"]
    }

    /// Returns whether the mail came over TLS, and the authenticated user.
    ///
    /// # Panics
    /// If the server does not report them.
    #[must_use]
    pub fn security(&self) -> (bool, &str) {
        (self.0["secure"].as_bool().unwrap(), self.0["user"].as_str().unwrap())
    }

    /// Returns the token of the link to `page` in the plain-text body.
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

/// An SMTP server process. It exits when its standard input closes, which happens when this value is dropped.
#[derive(Debug)]
pub struct MailServer {
    port: u16,
    scheme: &'static str,
    ca_file: Option<PathBuf>,
    arrived: Arc<Mutex<Vec<ReceivedMail>>>,
    _child: Child,
    _folder: TempDir,
}

impl MailServer {
    /// Starts a server without TLS and authentication.
    pub async fn start() -> Self {
        Self::with("smtp", &[]).await
    }

    /// Starts a server with a self-signed certificate (see [`MailServer::ca_file`]). It requires STARTTLS or implicit TLS, and
    /// this user and password.
    ///
    /// # Panics
    /// If the certificate cannot be generated.
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
        command
            .arg(repository_root().join("tests/smtp/server.py"))
            .args(options);
        let mut ca_file = None;
        if options.contains(&"--security") {
            let generated = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
            let certificate = folder.path().join("certificate.pem");
            let key = folder.path().join("key.pem");
            std::fs::write(&certificate, generated.cert.pem()).unwrap();
            std::fs::write(&key, generated.signing_key.serialize_pem()).unwrap();
            command.arg("--certificate").arg(&certificate).arg("--key").arg(&key);
            ca_file = Some(certificate);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let missing = "aiosmtpd is missing; run scripts/install-test-tools, or scripts/test, which does that first";
        let mut child = command.spawn().expect(missing);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next_line().await.unwrap().expect(missing);
        let first: Value = serde_json::from_str(&first).unwrap();
        let arrived: Arc<Mutex<Vec<ReceivedMail>>> = Arc::default();
        let sink = Arc::clone(&arrived);
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                let event: Value = serde_json::from_str(&line).unwrap();
                if event["event"] == "message" {
                    sink.lock().unwrap().push(ReceivedMail(event));
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

    /// Returns the URL of the server; `credentials` is `user:password@` or empty.
    #[must_use]
    pub fn url(&self, credentials: &str) -> String {
        let option = if self.ca_file.is_some() && self.scheme == "smtp" {
            "?tls=starttls"
        } else {
            ""
        };
        format!("{}://{credentials}localhost:{}{option}", self.scheme, self.port)
    }

    /// Returns the path of the CA certificate file.
    ///
    /// # Panics
    /// If the server has no certificate.
    #[must_use]
    pub fn ca_file(&self) -> String {
        self.ca_file.as_ref().unwrap().display().to_string()
    }

    /// Returns the mails to an address, oldest first.
    ///
    /// # Panics
    /// If the lock is poisoned.
    #[must_use]
    pub fn mails_to(&self, address: &str) -> Vec<ReceivedMail> {
        let arrived = self.arrived.lock().unwrap();
        arrived.iter().filter(|mail| mail.to() == address).cloned().collect()
    }

    /// Waits until at least `count` mails to an address have arrived, and returns them.
    ///
    /// # Panics
    /// If they do not arrive in time.
    pub async fn wait_for_mails(&self, address: &str, count: usize) -> Vec<ReceivedMail> {
        wait_for(&format!("{count} mails to {address}"), || async {
            Some(self.mails_to(address)).filter(|mails| mails.len() >= count)
        })
        .await
    }
}
