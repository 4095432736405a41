//! Programs that people run, under the load generators that people use: counts agree exactly, and quantiles fit
//! what the load generator measured itself.

mod compare;
mod memcached;
mod nginx;
mod postgresql;
mod redis;
mod server;
