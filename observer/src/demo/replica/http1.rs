//! A replica that speaks HTTP/1.1.

use std::{convert::Infallible, sync::Arc};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::{BODY, Replica, Ticket};

/// Answers the requests of one connection. Where the client is gone, the request is given up.
pub(super) async fn serve(stream: TcpStream, replica: Arc<Replica>) -> hyper::Result<()> {
    let service = service_fn(|request| {
        let replica = Arc::clone(&replica);
        async move { Ok::<_, Infallible>(respond(&replica, &request).await) }
    });
    http1::Builder::new().serve_connection(TokioIo::new(stream), service).await
}

async fn respond(replica: &Replica, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    let Some(ticket) = Ticket::of(request.uri().path(), request.headers()) else {
        return empty(StatusCode::NOT_FOUND);
    };
    match replica.execute(ticket).await {
        Ok(()) => Response::new(Full::new(BODY)),
        Err(_) => empty(StatusCode::SERVICE_UNAVAILABLE),
    }
}

fn empty(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}
