//! Studies from file to tables.

mod auto;
mod database;
mod drivers;
mod end_to_end;
mod plan;
mod resume;
mod shards;
mod spec;
mod support;
mod tables;
