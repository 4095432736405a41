//! Asking in gRPC: all calls to a replica on one connection.

use std::{
    error::Error as _,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, Uri, uri::PathAndQuery};
use hyper::{
    body::Incoming,
    client::conn::http2::{SendRequest, handshake},
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::sync::Mutex;
use tonic::{Extensions, body::Body, client::Grpc, client::GrpcService, metadata::MetadataMap};

use super::{
    CopyInFlight, Gate,
    copy::Failure,
    gate::{Ends, Gated},
};
use crate::demo::grpc::PlainBytes;

/// The connection to one replica, made anew when it has ended.
#[derive(Debug)]
pub(super) struct GrpcConnection {
    address: SocketAddr,
    gate: Arc<Gate>,
    open: Mutex<Option<Connection>>,
}

#[derive(Clone, Debug)]
struct Connection {
    sender: SendRequest<Body>,
    ends: Ends,
}

impl GrpcConnection {
    pub(super) fn new(address: SocketAddr, gate: Arc<Gate>) -> Self {
        Self { address, gate, open: Mutex::default() }
    }

    /// Opens it, so that no call has to wait for that.
    pub(super) async fn open(&self) -> io::Result<()> {
        self.connection().await.map(|_| ()).map_err(io::Error::other)
    }

    /// Calls. Dropped before the answer is there, it cancels the call.
    pub(super) async fn ask(&self, mut copy: CopyInFlight<'_>) -> Result<(), Failure> {
        let connection = self.connection().await?;
        let ticket = copy.ticket();
        let origin = Uri::builder()
            .scheme("http")
            .authority(self.address.to_string())
            .path_and_query("/")
            .build()
            .map_err(|error| Failure::Answer(error.to_string()))?;
        let headers = HeaderMap::from_iter(ticket.headers());
        let message = Bytes::from(ticket.request.to_string());
        let request =
            tonic::Request::from_parts(MetadataMap::from_headers(headers), Extensions::new(), message);
        let method = PathAndQuery::from_static(ticket.class.method());

        copy.send(self.address, connection.ends);
        let mut grpc = Grpc::with_origin(Service(connection.sender), origin);
        let (status, result) = match grpc.unary(request, method, PlainBytes).await {
            Ok(_) => (tonic::Code::Ok, Ok(())),
            // A status without a source is the server's own.
            Err(status) if status.source().is_some() => {
                copy.reset();
                return Err(Failure::Answer(status.to_string()));
            }
            Err(status) => (status.code(), Err(Failure::Answer(status.to_string()))),
        };
        copy.head();
        copy.answered(u16::try_from(i32::from(status)).unwrap_or(u16::MAX));
        result
    }

    async fn connection(&self) -> Result<Connection, Failure> {
        let mut open = self.open.lock().await;
        if let Some(connection) = open.as_ref().filter(|connection| !connection.sender.is_closed()) {
            return Ok(connection.clone());
        }
        let (stream, ends) = Gated::connect(self.address, &self.gate).await?;
        let (sender, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
        // It ends when all senders are gone. How is known to whoever asked last.
        tokio::spawn(async move { connection.await.ok() });
        Ok(open.insert(Connection { sender, ends }).clone())
    }
}

/// What tonic sends its calls through.
struct Service(SendRequest<Body>);

impl GrpcService<Body> for Service {
    type ResponseBody = Incoming;
    type Error = hyper::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Incoming>, hyper::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), hyper::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(self.0.send_request(request))
    }
}
