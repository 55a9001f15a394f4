//! Starts the SMTP server `tests/smtp/server.py` for the duration of a test.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use notify::address::{ResolveFuture, Resolver, SystemResolver, TcpDialer};
use notify::email::{Mailer, MailerPorts, SmtpConfig};
use rcgen::{CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::CertificateDer;
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use super::{ManualTime, TIMEOUT};

/// The TLS mode of the server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Security {
    None,
    StartTls,
    Implicit,
}

pub(crate) struct MailServer {
    pub(crate) port: u16,
    security: Security,
    authority: Option<CertificateDer<'static>>,
    lines: Lines<BufReader<ChildStdout>>,
    // The server exits when its standard input is closed.
    _child: Child,
    _folder: TempDir,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

impl MailServer {
    pub(crate) async fn start(security: Security, options: &[&str]) -> Self {
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
        let python = root().join(target).join("python/bin/python");
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(&python);
        command.arg(root().join("tests/smtp/server.py")).args(options);
        let mut authority = None;
        if security != Security::None {
            let (root, certificate, key) = certificate(&["localhost", "127.0.0.1"]);
            let (certificate_file, key_file) = (folder.path().join("certificate"), folder.path().join("key"));
            std::fs::write(&certificate_file, certificate).unwrap();
            std::fs::write(&key_file, key).unwrap();
            let name = if security == Security::StartTls {
                "starttls"
            } else {
                "implicit"
            };
            command
                .args(["--security", name])
                .arg("--certificate")
                .arg(certificate_file)
                .arg("--key")
                .arg(key_file);
            authority = Some(root);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap_or_else(|_| panic!("{}", missing(&python)));
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines
            .next_line()
            .await
            .unwrap()
            .unwrap_or_else(|| panic!("{}", missing(&python)));
        let first: Value = serde_json::from_str(&first).unwrap();
        Self {
            port: u16::try_from(first["port"].as_u64().unwrap()).unwrap(),
            security,
            authority,
            lines,
            _child: child,
            _folder: folder,
        }
    }

    /// Returns the URL of the server.
    pub(crate) fn url(&self, credentials: &str) -> String {
        let (scheme, option) = match self.security {
            Security::None => ("smtp", ""),
            Security::StartTls => ("smtp", "?tls=starttls"),
            Security::Implicit => ("smtps", ""),
        };
        format!("{scheme}://{credentials}localhost:{}{option}", self.port)
    }

    /// Returns the configuration for the server.
    pub(crate) fn settings(&self, credentials: &str) -> SmtpConfig {
        SmtpConfig {
            extra_roots: self.authority.iter().cloned().collect(),
            ..settings(&self.url(credentials))
        }
    }

    pub(crate) fn mailer(&self) -> Mailer {
        mailer(self.settings(""))
    }

    /// Returns the next event of the server.
    pub(crate) async fn next(&mut self) -> Value {
        let line = self.lines.next_line().await.unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Returns the next message that the server accepted.
    pub(crate) async fn message(&mut self) -> Value {
        let next = self.next().await;
        assert_eq!(next["event"], "message", "{next}");
        next
    }
}

pub(crate) fn settings(url: &str) -> SmtpConfig {
    SmtpConfig {
        url: url.to_owned(),
        from: "Bellwether <alerts@example.com>".to_owned(),
        hello_name: Some("client.test".to_owned()),
        extra_roots: Vec::new(),
        timeout: TIMEOUT,
    }
}

pub(crate) fn mailer(settings: SmtpConfig) -> Mailer {
    Mailer::new(settings, ports(Arc::new(ManualTime::new()))).unwrap()
}

/// The network of this machine, with a clock.
pub(crate) fn ports(time: Arc<ManualTime>) -> MailerPorts {
    MailerPorts {
        time,
        resolver: Arc::new(SystemResolver::default()),
        dialer: Arc::new(TcpDialer),
    }
}

/// The address of this machine on which the server listens.
pub(crate) const LOCALHOST: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// Finds these addresses for each name.
#[derive(Debug)]
struct FixedResolver(Vec<IpAddr>);

impl Resolver for FixedResolver {
    fn resolve<'a>(&'a self, _name: &'a str) -> ResolveFuture<'a> {
        Box::pin(std::future::ready(Ok(self.0.clone())))
    }
}

/// The network of this machine, in which each name has these addresses.
pub(crate) fn ports_to(addresses: &[Ipv4Addr]) -> MailerPorts {
    let addresses = addresses.iter().copied().map(IpAddr::V4).collect();
    MailerPorts {
        resolver: Arc::new(FixedResolver(addresses)),
        ..ports(Arc::new(ManualTime::new()))
    }
}

/// Returns a certificate authority, and a certificate and key (PEM) that it signed.
pub(crate) fn certificate(names: &[&str]) -> (CertificateDer<'static>, String, String) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
    let leaf = CertificateParams::new(names).unwrap().signed_by(&key, &issuer).unwrap();
    (issuer.der().clone(), leaf.pem(), key.serialize_pem())
}

fn missing(python: &Path) -> String {
    format!(
        "aiosmtpd is missing in {}; run scripts/install-test-tools, which creates a virtual environment with \
         tests/smtp/requirements.txt, or scripts/test, which does that first",
        python.display()
    )
}
