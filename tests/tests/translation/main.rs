//! A client dials an address that nobody has, and the kernel sends it to one of several backends: the observer tells
//! the backend apart, and what was dialled, as the backends themselves saw it. And what a name server answers is
//! what a service is called.

mod backends;
mod cluster;
mod dialled;
mod names;
