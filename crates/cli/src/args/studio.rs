//! Arguments of `studio`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  intervalid studio                          recordings and fits of this folder, in a browser
  intervalid studio plant                    of the folder plant; made if it does not exist
  intervalid studio plant --port 8400 --no-open
  intervalid studio --listen 192.168.0.7     also for others on the network, who need the link

Recordings are files in the folder, fits the folders that `intervalid fit --out` writes: what is made here can be used in a
terminal, and the other way round. The link that is printed lets one browser in. Ctrl-C ends the studio.";

/// Arguments of `studio`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct StudioArgs {
    /// The workspace: a folder of recordings and fits
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Port to listen at [default: any that is free]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,
    /// Address to listen at, for use from other machines; what is sent is not encrypted
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) listen: IpAddr,
    /// Do not open the browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Most threads of a fit; results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
}
