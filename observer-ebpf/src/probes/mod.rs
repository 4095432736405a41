//! One probe a file.

mod connect;
mod egress;
mod frames;
mod ingress;
mod lifecycle;
mod read;
mod records;
mod waiting;
