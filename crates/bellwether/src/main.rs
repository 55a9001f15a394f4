//! The `bellwether` program; see [`bellwether::cli`].

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    bellwether::cli::run(bellwether::cli::Cli::parse())
}
