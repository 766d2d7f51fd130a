//! Exported steps against `predict`, run by the real tools.
