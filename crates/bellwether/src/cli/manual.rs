//! `bellwether completions` and `bellwether man`: completions of shells and manual pages, from the definition of the command line.

use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::{Cli, CommandError, print};

/// The name of the program.
const PROGRAM: &str = "bellwether";

#[derive(Args, Debug)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Args, Debug)]
pub(super) struct ManArgs {
    /// The folder, such as /usr/local/share/man/man1
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Prints the completions of a shell.
pub(super) fn print_completions(args: &CompletionsArgs) -> Result<(), CommandError> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), PROGRAM, &mut text);
    print(&String::from_utf8_lossy(&text))
}

/// Writes a page for the program and for each of its commands.
pub(super) fn write_pages(args: &ManArgs) -> Result<(), CommandError> {
    let folder = &args.folder;
    fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
    clap_mangen::generate_to(Cli::command(), folder)
        .with_context(|| format!("cannot write the pages into {}", folder.display()))?;
    Ok(())
}
