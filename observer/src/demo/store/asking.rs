//! Asking the store.

use std::{
    io,
    net::SocketAddr,
    sync::{Mutex, PoisonError},
};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};

/// The store, and connections to it that wait for a question.
#[derive(Debug)]
pub(in super::super) struct Store {
    address: SocketAddr,
    idle: Mutex<Vec<BufReader<TcpStream>>>,
}

impl Store {
    pub(in super::super) fn at(address: SocketAddr) -> Self {
        Self { address, idle: Mutex::default() }
    }

    /// Asks for a value. Dropped before it is there, the question takes its connection with it.
    pub(in super::super) async fn ask(&self, key: u64) -> io::Result<()> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut connection = match idle {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        connection.get_mut().write_all(format!("get {key}\n").as_bytes()).await?;
        let mut answer = String::new();
        connection.read_line(&mut answer).await?;
        if answer != format!("value {key}\n") {
            return Err(io::Error::other(format!("the store answers {answer:?}")));
        }
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        Ok(())
    }

    async fn connect(&self) -> io::Result<BufReader<TcpStream>> {
        let stream = TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        Ok(BufReader::new(stream))
    }
}
