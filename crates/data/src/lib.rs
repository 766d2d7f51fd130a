//! intervalid-data
