//! Interval neural networks for system identification.

mod error;
mod loss;
mod network;

pub use error::{ModelError, Result};
pub use loss::{Level, RqrW};
pub use network::{Architecture, Block, LayerId, Layout, NetworkKind, Role};
