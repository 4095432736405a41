mod kernel;
mod messages;
