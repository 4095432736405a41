//! A replica that speaks gRPC.

use std::{convert::Infallible, pin::Pin, sync::Arc};

use bytes::Bytes;
use http::Request;
use hyper::{body::Incoming, server::conn::http2, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tonic::{
    Status,
    server::{Grpc, UnaryService},
};

use super::{super::grpc::PlainBytes, BODY, Replica, Ticket};

/// So many calls may be cancelled before the replica has looked at them. A hedging client does that to a replica that
/// stands still; by default, twenty would be taken for an attack, and the connection would end with all calls on it.
const MOST_RESET: usize = 10_000;

/// Answers the calls of one connection. A call that the client cancels is given up.
pub(super) async fn serve(stream: TcpStream, replica: Arc<Replica>) -> hyper::Result<()> {
    let service = service_fn(|request: Request<Incoming>| {
        let ticket = Ticket::of(request.uri().path(), request.headers());
        let call = Call { replica: Arc::clone(&replica), ticket };
        async move { Ok::<_, Infallible>(Grpc::new(PlainBytes).unary(call, request).await) }
    });
    http2::Builder::new(TokioExecutor::new())
        .max_pending_accept_reset_streams(MOST_RESET)
        .serve_connection(TokioIo::new(stream), service)
        .await
}

struct Call {
    replica: Arc<Replica>,
    ticket: Option<Ticket>,
}

impl UnaryService<Bytes> for Call {
    type Response = Bytes;
    type Future = Pin<Box<dyn Future<Output = Result<tonic::Response<Bytes>, Status>> + Send>>;

    fn call(&mut self, _: tonic::Request<Bytes>) -> Self::Future {
        let (replica, ticket) = (Arc::clone(&self.replica), self.ticket);
        Box::pin(async move {
            let ticket = ticket.ok_or_else(|| Status::unimplemented("this is no call of the demo"))?;
            match replica.execute(ticket).await {
                Ok(()) => Ok(tonic::Response::new(BODY)),
                Err(error) => Err(Status::unavailable(error.to_string())),
            }
        })
    }
}
