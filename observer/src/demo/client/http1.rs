//! Asking in HTTP/1.1: one request at a time on a connection, and as many connections as there are requests under way.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use http::{HeaderValue, Request, header::HOST};
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;

use super::{
    CopyInFlight, Gate,
    copy::Failure,
    gate::{Ends, Gated},
};

/// The connections to one replica that wait for a request.
#[derive(Debug)]
pub(super) struct Http1Connections {
    address: SocketAddr,
    gate: Arc<Gate>,
    idle: Mutex<Vec<Connection>>,
}

#[derive(Debug)]
struct Connection {
    sender: SendRequest<Empty<Bytes>>,
    ends: Ends,
}

impl Http1Connections {
    pub(super) fn new(address: SocketAddr, gate: Arc<Gate>) -> Self {
        Self { address, gate, idle: Mutex::default() }
    }

    /// Asks. Dropped before the answer is there, it takes the connection with it.
    pub(super) async fn ask(&self, mut copy: CopyInFlight<'_>) -> Result<(), Failure> {
        let mut connection = self.connection().await?;
        let ticket = copy.ticket();
        let mut request = Request::new(Empty::new());
        *request.uri_mut() = format!("{}{}", ticket.class.path(), ticket.request)
            .parse()
            .map_err(|error: http::uri::InvalidUri| Failure::Answer(error.to_string()))?;
        let host = HeaderValue::try_from(self.address.to_string())
            .map_err(|error| Failure::Answer(error.to_string()))?;
        request.headers_mut().insert(HOST, host);
        request.headers_mut().extend(ticket.headers());

        copy.send(self.address, connection.ends);
        let answer = async {
            let response = connection.sender.send_request(request).await?;
            copy.head();
            let status = response.status();
            response.into_body().collect().await?;
            Ok(status)
        };
        let status = match answer.await {
            Ok(status) => status,
            Err(error) => {
                copy.reset();
                return Err(Failure::Connection(error));
            }
        };
        copy.answered(status.as_u16());
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        if status.is_success() { Ok(()) } else { Err(Failure::Answer(status.to_string())) }
    }

    /// One that is of use, or a new one.
    async fn connection(&self) -> Result<Connection, Failure> {
        loop {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            match idle {
                None => return self.open().await,
                Some(mut connection) => {
                    if connection.sender.ready().await.is_ok() {
                        return Ok(connection);
                    }
                }
            }
        }
    }

    async fn open(&self) -> Result<Connection, Failure> {
        let (stream, ends) = Gated::connect(self.address, &self.gate).await?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        // It ends when the sender is gone. How is known to whoever asked last.
        tokio::spawn(async move { connection.await.ok() });
        Ok(Connection { sender, ends })
    }
}
