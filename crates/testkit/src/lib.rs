//! intervalid-testkit
