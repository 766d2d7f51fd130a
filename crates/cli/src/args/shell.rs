//! Arguments of what makes the program at home in a shell: completions and manual pages.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  intervalid completions bash > ~/.local/share/bash-completion/completions/intervalid
  intervalid completions zsh > ~/.zfunc/_intervalid      with ~/.zfunc in fpath
  intervalid completions fish > ~/.config/fish/completions/intervalid.fish
  eval \"$(intervalid completions bash)\"                  this shell only";

const MAN_EXAMPLES: &str = "\
Examples:
  intervalid man | man -l -                              read the main page
  intervalid man --out ~/.local/share/man/man1           install all pages, then `man intervalid-fit`";

/// Arguments of `completions`.
#[derive(Args, Debug)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// Shell that the script is for
    #[arg(value_name = "SHELL", value_enum)]
    pub(crate) shell: Shell,
}

/// Arguments of `man`.
#[derive(Args, Debug)]
#[command(after_help = MAN_EXAMPLES)]
pub(crate) struct ManArgs {
    /// Folder for the pages of all commands [default: print the main page]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}
