//! Programs that people run, under the load generators that people use: counts agree exactly, and quantiles fit
//! what the load generator measured itself.

mod access_logs;
mod compare;
mod curl;
mod grpc;
mod h2load;
mod haproxy;
mod http1;
mod mariadb;
mod memcached;
mod multiplexed;
mod nginx;
mod older;
mod postgresql;
mod redis;
mod server;
mod talk;
mod tls;
mod told;
mod web;
mod younger;
