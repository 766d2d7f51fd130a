//! The identification app in the browser, served on your own machine.
//!
//! A workspace is a folder: its recordings are files in it, its fits the folders that `intervalid fit --out` writes, made by the same
//! library. A browser sees what the folder holds, so a fit made in a terminal appears here and the other way round.
//!
//! | module | what it does |
//! |---|---|
//! | `server` | binds, accepts, limits connections, stops |
//! | `guard` | who may ask: host, origin, link and cookie; headers of every answer |
//! | `workspace` | the only way to a path: nothing outside the folder |
//! | `listing` | sees what others put into the folder |
//! | `choice`, `record`, `problem` | recordings: how they are read, what is in them, what is wrong with them |
//! | `prepared` | what is done to them before a fit, and where they deserve a look |
//! | `tracks`, `series` | their channels, the least and the greatest value of every pixel |
//! | `queue`, `job`, `live` | fits, one at a time, in a thread of their own; how far the one that runs is |
//! | `fits`, `remarks` | the table of fits, their names, pins, notes and the bin |
//! | `overlay`, `analysis`, `whatif`, `takeaway` | what is done with fitted models |
//! | `routes` | addresses to the above; `assets`: the page itself |
//!
//! The server trusts nobody who cannot open the link that the terminal shows. It answers to its own address only, so that neither
//! another page in the same browser nor a name that was bent to this machine reaches it.

mod analysis;
mod api_error;
mod app;
mod assets;
mod cache;
mod choice;
mod error;
mod fits;
mod guard;
mod job;
mod listing;
mod live;
mod overlay;
mod prepared;
mod problem;
mod queue;
mod record;
mod remarks;
mod routes;
mod secret;
mod series;
mod server;
mod state;
mod takeaway;
mod tracks;
mod upload;
mod whatif;
mod workspace;

pub use error::{Result, StudioError};
pub use server::{Limits, Studio, StudioConfig};
