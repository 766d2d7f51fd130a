//! Exported steps against `predict`, run by the real tools.

mod c;
mod models;
mod tools;
