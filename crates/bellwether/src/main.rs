//! The `bellwether` program; see [`bellwether::cli`].

use std::process::ExitCode;

use clap::Parser;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // All TLS connections use one cryptography provider. An error means that it is already installed.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    bellwether::cli::run(bellwether::cli::Cli::parse())
}
