//! The `bellwether` program; see [`bellwether::cli`].

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    // One provider of cryptography for all that speak TLS here. An error means that there is one already.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    bellwether::cli::run(bellwether::cli::Cli::parse())
}
