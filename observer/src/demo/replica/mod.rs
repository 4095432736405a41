//! A replica: slots, and a queue in front of them.

mod execution;
mod grpc;
mod http1;
mod work;

use std::{
    convert::Infallible,
    io,
    net::SocketAddr,
    num::NonZeroUsize,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use execution::Running;
use jiff::fmt::serde::unsigned_duration::friendly::compact::required as text;
use rand::{SeedableRng, rngs::SmallRng};
use serde::{Deserialize, Serialize};
use tokio::{
    net::TcpListener,
    sync::Semaphore,
    time::{sleep, sleep_until},
};

use super::{
    message::Teller,
    part::{Stage, listener},
    records::Fault,
    service_time::ServiceTime,
    store::Store,
    system::Wire,
    timetable::{Ongoing, Timetable},
    wire::{Class, Ticket},
};

/// The answer's body.
const BODY: Bytes = Bytes::from_static(&[b'.'; 1_000]);

/// What a replica is told by the process that starts it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ReplicaOptions {
    /// The address that clients dial.
    pub(super) instance: SocketAddr,
    /// What it speaks.
    pub(super) wire: Wire,
    /// How many requests it serves at once.
    pub(super) slots: NonZeroUsize,
    /// How long it serves each.
    pub(super) service: ServiceTime,
    /// How much of that is processor time.
    #[serde(with = "text")]
    pub(super) work: Duration,
    /// So many times as long it serves an expensive one.
    pub(super) expense: f64,
    /// When it serves longer than others.
    pub(super) slow: Timetable,
    /// So many times as long then.
    pub(super) slowness: f64,
    /// Who is asked for each request.
    pub(super) store: SocketAddr,
    /// Decides service times.
    pub(super) seed: u64,
}

#[derive(Debug)]
struct Replica {
    slots: Semaphore,
    is_slow: AtomicBool,
    random: Mutex<SmallRng>,
    store: Store,
    teller: Teller,
    options: ReplicaOptions,
}

/// Serves the listening socket that is standard input.
pub(super) async fn run(options: ReplicaOptions, stage: Stage) -> io::Result<()> {
    let listener = listener()?;
    let replica = Arc::new(Replica {
        slots: Semaphore::new(options.slots.get()),
        is_slow: AtomicBool::new(false),
        random: Mutex::new(SmallRng::seed_from_u64(options.seed)),
        store: Store::at(options.store),
        teller: stage.teller,
        options,
    });
    let slow_down = replica.options.slow.each(async |until| {
        let _on = Ongoing::begin(&replica.teller, Fault::LongerService).at(replica.options.instance);
        replica.is_slow.store(true, Ordering::Relaxed);
        sleep_until(until).await;
        replica.is_slow.store(false, Ordering::Relaxed);
        Ok(())
    });
    tokio::try_join!(accept(&listener, &replica), slow_down).map(drop)
}

async fn accept(listener: &TcpListener, replica: &Arc<Replica>) -> io::Result<Infallible> {
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let replica = Arc::clone(replica);
        // A client that goes away, or speaks another protocol, concerns nobody else.
        tokio::spawn(async move {
            match replica.options.wire {
                Wire::Http1 => http1::serve(stream, replica).await.ok(),
                Wire::Grpc => grpc::serve(stream, replica).await.ok(),
            }
        });
    }
}

impl Replica {
    /// Waits for a slot, then serves a request in it. Dropped before, it frees its place in the queue or its slot.
    async fn execute(&self, ticket: Ticket) -> io::Result<()> {
        let running = Running::begin(&self.teller, self.options.instance, ticket);
        let _slot = self.slots.acquire().await.map_err(io::Error::other)?;
        let time = self.service_time(ticket.class);
        work::spend(self.options.work);
        sleep(time.saturating_sub(self.options.work)).await;
        self.store.ask(ticket.request).await?;
        running.answered();
        Ok(())
    }

    fn service_time(&self, class: Class) -> Duration {
        let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        let mut time = self.options.service.draw(&mut random);
        if class == Class::Expensive {
            time = time.mul_f64(self.options.expense);
        }
        if self.is_slow.load(Ordering::Relaxed) {
            time = time.mul_f64(self.options.slowness);
        }
        time
    }
}
