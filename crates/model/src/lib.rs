//! intervalid-model
