//! One probe a file.

mod connect;
mod egress;
mod ingress;
mod lifecycle;
mod read;
mod waiting;
